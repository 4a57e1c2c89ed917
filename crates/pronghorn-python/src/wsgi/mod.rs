//! WSGI (PEP 3333): one request becomes one call of the application.

mod call;
mod errors;
mod failure;
mod file_wrapper;
mod head;
mod input;
mod raw;
mod response;
mod template;

use pronghorn_engine::{Body, BodyBuffer, Exchange, Handler, Stack, Work};
use pronghorn_proto::framing::Framing;
use pyo3::{exceptions::PyTypeError, prelude::*};

use self::{
    call::{Call, Failure},
    input::Input,
    raw::{Callables, Environ},
};
use crate::{attach, fork, interruption::Interruption, logging, raw::BytesBuffer};

/// Serves a WSGI application.
pub(crate) struct WsgiHandler {
    app: Py<PyAny>,
    environ: Environ,
    callables: Callables,
    debug: bool,
    interruption: Interruption,
}

/// What the application is told about the server.
pub(crate) struct WsgiOptions {
    /// Whether the application may be called by several threads at once.
    pub(crate) multithread: bool,
    /// Whether other processes serve the same application.
    pub(crate) multiprocess: bool,
    /// Whether clients may see tracebacks.
    pub(crate) debug: bool,
    /// `http` or `https`.
    pub(crate) url_scheme: String,
    /// The path the application is mounted at, without a slash at its end; empty for the root.
    pub(crate) script_name: String,
    /// The listeners, in the engine's order.
    pub(crate) listeners: Vec<Listener>,
}

/// What the application is told about the listener a request came by.
pub(crate) struct Listener {
    /// `SERVER_NAME`.
    pub(crate) name: String,
    /// `SERVER_PORT`; empty for a Unix socket.
    pub(crate) port: String,
    /// Whether it is a Unix socket.
    pub(crate) unix: bool,
}

impl WsgiHandler {
    /// A handler that calls `app`.
    ///
    /// # Errors
    /// `TypeError` when `app` cannot be called; `MemoryError`.
    pub(crate) fn new(
        py: Python<'_>,
        app: Bound<'_, PyAny>,
        options: WsgiOptions,
    ) -> PyResult<Self> {
        if !app.is_callable() {
            return Err(PyTypeError::new_err("a WSGI application must be callable"));
        }
        let listeners = options.listeners.iter();
        let templates = listeners.map(|listener| template::template(py, &options, listener));
        let templates = templates.collect::<PyResult<_>>()?;
        Ok(WsgiHandler {
            app: app.unbind(),
            environ: Environ::new(py, templates, &options.script_name),
            callables: Callables::new(py)?,
            debug: options.debug,
            interruption: Interruption::new(py)?,
        })
    }

    fn run(&self, py: Python<'_>, exchange: &mut Exchange<'_>) -> PyResult<()> {
        let body = exchange.take_body();
        let decoded = decoded_length(exchange, &body);
        let input = Input::of(py, body)?;
        let (input, link) = input.map_or((None, None), |input| (Some(input.object), input.link));
        let environ = self.environ.build(py, exchange, input, decoded)?;
        let pair = self.callables.lend(py)?;
        let call = Call::new(exchange, pair.write().clone(), self.debug);
        pair.connect(&call, link.as_deref(), |start_response| {
            match self.app.bind(py).call1((&environ, start_response)) {
                result if fork::is_child() => end_child(py, &call, result.err()),
                Ok(result) => response::send(&call, result),
                Err(error) => Python::attach(|py| {
                    failure::settle(py, &call, Err(Failure::Raised(error)));
                }),
            }
        });
        Ok(())
    }
}

/// Ends a process that the application forked, and tells why it came back.
#[cold]
fn end_child(py: Python<'_>, call: &Call<'_, '_, '_>, error: Option<PyErr>) {
    if let Some(error) = error {
        failure::report(py, call, "a process that the application forked failed", &error);
    }
    fork::end_child(&call.label())
}

/// The length of a body that came in chunks and is there whole: as the coding is undone, it is what Content-Length would have said
/// (RFC 9112 section 7.1.3).
fn decoded_length(exchange: &Exchange<'_>, body: &Body) -> Option<u64> {
    match (exchange.head().framing, body) {
        (Framing::Chunked, Body::None) => Some(0),
        (Framing::Chunked, Body::Memory(bytes)) => Some(bytes.len() as u64),
        (Framing::Chunked, Body::File(_, length)) => Some(*length),
        _ => None,
    }
}

impl Handler for WsgiHandler {
    fn thread_stop(&self) {
        attach::leave();
    }

    fn reopen_logs(&self) {
        logging::reopen();
    }

    fn attach(&self) {
        attach::attach();
    }

    fn detach(&self) {
        attach::detach();
    }

    fn handle(&self, exchange: &mut Exchange<'_>) {
        attach::assume(|py| {
            if let Err(error) = self.run(py, exchange) {
                Python::attach(|_| {
                    log::error!("a request could not be given to the application: {error}")
                });
                exchange.fail();
            }
        });
        if fork::is_child() {
            // It came back later, from the iteration of the body.
            fork::end_child(&exchange.label());
        }
    }

    fn body_buffer(&self, length: usize) -> Option<Box<dyn BodyBuffer>> {
        let buffer = attach::assume(|py| BytesBuffer::new(py, length))?;
        Some(Box::new(buffer))
    }

    fn stacks(&self, only: Option<u64>) -> Vec<Stack> {
        self.interruption.stacks(only)
    }

    fn stacks_at_once(&self, only: Option<u64>) -> Vec<Stack> {
        self.interruption.stacks_at_once(only)
    }

    fn interrupt(&self, work: Work) {
        self.interruption.raise_in(work.thread);
    }

    fn forget_interrupt(&self) {
        attach::forget_raised();
    }
}
