//! One running request: the status it was given, and every way to send.

use std::{
    cell::{Cell, RefCell},
    mem,
};

use pronghorn_engine::{Body, Exchange, Retained};
use pronghorn_proto::{
    encode::{BodySize, ResponseFields},
    head::Method,
};
use pyo3::{
    exceptions::{PyBrokenPipeError, PyOSError, PyRuntimeError, PyTypeError},
    prelude::*,
    types::{PyBytes, PyString},
};

use super::file_wrapper::Region;
use crate::{
    debug,
    raw::{Kept, copied_from, one_byte},
    request::Request,
};

/// A request while its application runs. Lives on the stack of the thread that runs it.
pub(super) struct Call<'py, 'a, 'e> {
    exchange: RefCell<&'a mut Exchange<'e>>,
    status: RefCell<Option<Status<'py>>>,
    write: Bound<'py, PyAny>,
    written: Cell<bool>,
    gone: Cell<bool>,
    debug: bool,
}

/// The status given to `start_response`.
pub(super) struct Status<'py> {
    code: u16,
    text: Bound<'py, PyAny>,
}

impl<'py> Status<'py> {
    /// `text` is `code` in three digits, a space and the reason, all in latin-1.
    pub(super) fn new(code: u16, text: Bound<'py, PyAny>) -> Self {
        Status { code, text }
    }

    fn reason(&self) -> &[u8] {
        match one_byte(&self.text) {
            Ok(Some(text)) => text.get(4..).unwrap_or_default(),
            _ => b"",
        }
    }

    /// RFC 9110 sections 6.4.1 and 15: nothing follows the head.
    fn forbids_body(&self) -> bool {
        matches!(self.code, 204 | 205 | 304)
    }
}

/// Why a response came to no good end.
pub(super) enum Failure {
    /// The client went away, or is too slow.
    Gone,
    /// Python code raised, or did what PEP 3333 forbids.
    Raised(PyErr),
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Failure::Raised(error)
    }
}

impl<'py, 'a, 'e> Call<'py, 'a, 'e> {
    /// `write` is what `start_response` gives; `debug`, whether the client may see tracebacks.
    pub(super) fn new(
        exchange: &'a mut Exchange<'e>,
        write: Bound<'py, PyAny>,
        debug: bool,
    ) -> Self {
        Call {
            exchange: RefCell::new(exchange),
            status: RefCell::new(None),
            write,
            written: Cell::new(false),
            gone: Cell::new(false),
            debug,
        }
    }

    /// What `start_response` gives.
    pub(super) fn write(&self) -> &Bound<'py, PyAny> {
        &self.write
    }

    /// Whether the head is out of the application's hands.
    pub(super) fn started(&self) -> bool {
        self.exchange.borrow().started()
    }

    /// Whether `start_response` was called.
    pub(super) fn has_status(&self) -> bool {
        self.status.borrow().is_some()
    }

    /// Whether `start_response` was called for a response that has no body, whatever the application gives.
    pub(super) fn is_bodyless(&self) -> bool {
        self.status.borrow().as_ref().is_some_and(|status| {
            status.forbids_body() || self.exchange.borrow().head().method == Method::Head
        })
    }

    /// Whether `write` was used: a part of the body came before what the application returned.
    pub(super) fn has_written(&self) -> bool {
        self.written.get()
    }

    /// Whether a write found that the client had gone.
    pub(super) fn is_gone(&self) -> bool {
        self.gone.get()
    }

    /// Whether the request has taken longer than it may.
    pub(super) fn is_overdue(&self) -> bool {
        self.exchange.borrow().is_overdue()
    }

    /// Undoes `start_response`.
    pub(super) fn forget_status(&self) {
        self.status.replace(None);
    }

    /// Notes the status; the fields are in [`with_fields`](Call::with_fields).
    pub(super) fn set_status(&self, status: Status<'py>) {
        self.status.replace(Some(status));
    }

    /// Runs `f` with the fields of the response. `f` may run Python code, which may call `start_response` and `write` again.
    pub(super) fn with_fields<R>(&self, f: impl FnOnce(&mut ResponseFields) -> R) -> R {
        let mut fields = mem::take(self.exchange.borrow_mut().fields());
        let result = f(&mut fields);
        *self.exchange.borrow_mut().fields() = fields;
        result
    }

    /// Method and target, for the log.
    pub(super) fn label(&self) -> String {
        self.exchange.borrow().label()
    }

    /// A whole response in one write.
    pub(super) fn respond(&self, body: &Bound<'py, PyBytes>) -> Result<(), Failure> {
        self.respond_with(body.as_bytes(), || Box::new(Kept::new(body)))
    }

    /// As [`respond`](Call::respond); `keep` gives an owner of the same bytes.
    pub(super) fn respond_with(
        &self,
        body: &[u8],
        keep: impl FnOnce() -> Retained,
    ) -> Result<(), Failure> {
        let status = self.status.borrow();
        let status = status.as_ref().ok_or_else(not_started)?;
        let mut exchange = self.exchange.borrow_mut();
        exchange.respond(status.code, status.reason(), body, keep).map_err(|_| self.lost())
    }

    /// Sends a part of the body, unless the response has none; it is with the kernel when this returns. The first takes the head
    /// along, which says `size`.
    pub(super) fn send(&self, chunk: &Bound<'py, PyBytes>, size: BodySize) -> Result<(), Failure> {
        self.begin(size)?;
        if self.is_bodyless() {
            return Ok(());
        }
        self.exchange.borrow_mut().write(chunk.as_bytes()).map_err(|_| self.lost())
    }

    /// Sends `region` as the body, unless the response has none.
    pub(super) fn send_file(&self, region: Region) -> Result<(), Failure> {
        self.begin(BodySize::Known(region.length))?;
        if self.is_bodyless() {
            return Ok(());
        }
        let Region { file, offset, length } = region;
        self.exchange.borrow_mut().send_file(file, offset, length).map_err(|_| self.lost())
    }

    /// Nothing more comes; `size` is the whole if nothing came before. A body shorter than it should be aborts the connection.
    pub(super) fn finish(&self, size: BodySize) -> Result<(), Failure> {
        self.begin(size)?;
        self.exchange.borrow_mut().finish();
        Ok(())
    }

    /// Fixes the head, unless it is on its way.
    fn begin(&self, size: BodySize) -> Result<(), Failure> {
        let mut exchange = self.exchange.borrow_mut();
        if !exchange.started() {
            let status = self.status.borrow();
            let status = status.as_ref().ok_or_else(not_started)?;
            // What was given to `write` before is a part of the body too, even where none of it is sent.
            let size = if self.written.get() { BodySize::Unknown } else { size };
            exchange.start(status.code, status.reason(), size);
        }
        Ok(())
    }

    /// The application failed, with `traceback`, which the client sees only if it is to.
    pub(super) fn fail(&self, traceback: Option<&str>) {
        let mut exchange = self.exchange.borrow_mut();
        match traceback.filter(|_| self.debug) {
            Some(traceback) => {
                let request = Request { head: exchange.head(), bytes: exchange.head_bytes() };
                let (content_type, page) = debug::page(request, traceback);
                exchange.fail_with(content_type, &page);
            }
            None => exchange.fail(),
        }
    }

    /// `write(data)`: sends the head if need be and the data at once.
    pub(super) fn write_now(&self, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let chunk = bytes_of(data.clone(), "write() was given")?;
        // No bytes, no head: `start_response` may still change its mind.
        if !chunk.as_bytes().is_empty() {
            self.written.set(true);
            self.send(&chunk, BodySize::Unknown).map_err(into_python)?;
        }
        Ok(data.py().None().into_bound(data.py()))
    }

    /// Waits for the body that the client holds back.
    ///
    /// # Errors
    /// `OSError` when it did not come whole.
    pub(super) fn receive_body(&self) -> PyResult<Body> {
        let received = self.exchange.borrow_mut().receive_body();
        received.map_err(|error| PyOSError::new_err(error.to_string()))
    }

    /// What is in `exchange` is for this request no more.
    fn lost(&self) -> Failure {
        self.gone.set(true);
        Failure::Gone
    }
}

/// The bytes of one chunk: `chunk` itself, or a copy of another bytes-like object. `verb` begins the error.
#[inline]
pub(super) fn bytes_of<'py>(chunk: Bound<'py, PyAny>, verb: &str) -> PyResult<Bound<'py, PyBytes>> {
    match chunk.cast_into::<PyBytes>() {
        Ok(bytes) => Ok(bytes),
        Err(other) => copy_of(&other.into_inner(), verb),
    }
}

fn copy_of<'py>(chunk: &Bound<'py, PyAny>, verb: &str) -> PyResult<Bound<'py, PyBytes>> {
    match copied_from(chunk)? {
        Some(bytes) => Ok(bytes),
        None => {
            let name = chunk.get_type().name()?;
            let advice = if chunk.is_instance_of::<PyString>() { ": encode it first" } else { "" };
            Err(PyTypeError::new_err(format!("{verb} {name}, not bytes{advice}")))
        }
    }
}

#[cold]
fn not_started() -> PyErr {
    PyRuntimeError::new_err("the application did not call start_response before the body")
}

fn into_python(failure: Failure) -> PyErr {
    match failure {
        Failure::Gone => PyBrokenPipeError::new_err("the client closed the connection"),
        Failure::Raised(error) => error,
    }
}
