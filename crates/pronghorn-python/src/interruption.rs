//! Interrupting requests over their time, and telling where threads are in their Python code.

use std::fs::File;
use std::io::{Read, Seek};
use std::os::fd::AsRawFd;

use pronghorn_engine::Stack;
use pyo3::exceptions::PyBaseException;
use pyo3::{intern, prelude::*, types::PyDict};
use rustix::fs::{MemfdFlags, memfd_create};

use crate::attach;
use crate::stack_dump::read_dump;

pyo3::create_exception!(
    pronghorn,
    RequestTimeout,
    PyBaseException,
    "Raised in the code of a request that has run for longer than `request-timeout`.\n\n\
     Not an `Exception`, so that code which goes on after any error does not go on after this one. Its client has been \
     answered by then: clean up, and let it pass."
);

/// What it takes to interrupt Python code and to see where it is.
pub(crate) struct Interruption {
    exception: Py<PyAny>,
    dump: Option<Dump>,
}

impl Interruption {
    /// Prepares for it.
    ///
    /// # Errors
    /// `MemoryError`.
    pub(crate) fn new(py: Python<'_>) -> PyResult<Self> {
        let exception = py.get_type::<RequestTimeout>().into_any().unbind();
        let dump = Dump::new(py)
            .inspect_err(|error| {
                log::warn!(
                    "stacks can only be printed while the interpreter's lock is free: {error}"
                );
            })
            .ok();
        Ok(Interruption { exception, dump })
    }

    /// Where threads are: one of them, or all that are in Python code. The calling thread is attached.
    pub(crate) fn stacks(&self, only: Option<u64>) -> Vec<Stack> {
        attach::assume(|_| Python::attach(|py| stacks(py, only))).unwrap_or_else(|error| {
            log::warn!("the stacks of threads are not to be had: {error}");
            Vec::new()
        })
    }

    /// As [`stacks`](Interruption::stacks), by a thread that need not be attached; less exact, as the threads may go on meanwhile.
    pub(crate) fn stacks_at_once(&self, only: Option<u64>) -> Vec<Stack> {
        let text = self.dump.as_ref().and_then(|dump| dump.take().ok()).unwrap_or_default();
        let mut stacks = read_dump(&text);
        stacks.retain(|stack| only.is_none_or(|thread| thread == stack.thread));
        stacks
    }

    /// Has [`RequestTimeout`] raised in a thread. The calling thread is attached.
    pub(crate) fn raise_in(&self, thread: u64) {
        attach::assume(|py| attach::raise_in(thread, self.exception.bind(py)));
    }
}

fn stacks(py: Python<'_>, only: Option<u64>) -> PyResult<Vec<Stack>> {
    let frames = py.import(intern!(py, "sys"))?.call_method0(intern!(py, "_current_frames"))?;
    let frames = frames.cast_into::<PyDict>()?;
    let mut stacks = Vec::new();
    for (thread, frame) in &frames {
        let thread = thread.extract::<u64>()?;
        if only.is_none_or(|only| only == thread) {
            stacks.push(Stack { thread, text: calls(frame)? });
        }
    }
    Ok(stacks)
}

/// The calls of a thread, the latest last, as `traceback` writes them but for the lines of the source. To import that module, beside a
/// thread that gives the interpreter away only every five milliseconds, takes most of a second.
fn calls(frame: Bound<'_, PyAny>) -> PyResult<String> {
    let py = frame.py();
    let (mut calls, mut next) = (Vec::new(), Some(frame));
    while let Some(frame) = next.filter(|frame| !frame.is_none()) {
        calls.push(call_text(&frame)?);
        next = Some(frame.getattr(intern!(py, "f_back"))?);
    }
    calls.reverse();
    Ok(calls.concat())
}

/// One line for the call that `frame` is.
pub(crate) fn call_text(frame: &Bound<'_, PyAny>) -> PyResult<String> {
    let py = frame.py();
    let code = frame.getattr(intern!(py, "f_code"))?;
    let file = code.getattr(intern!(py, "co_filename"))?;
    let line = frame.getattr(intern!(py, "f_lineno"))?;
    let name = code.getattr(intern!(py, "co_name"))?;
    Ok(format!("  File \"{file}\", line {line}, in {name}\n"))
}

/// Python's `faulthandler`, which tells the stacks of all threads from the handler of a signal, without the interpreter's lock.
struct Dump {
    signal: i32,
    /// In memory: the handler writes to it.
    file: File,
}

impl Dump {
    fn new(py: Python<'_>) -> PyResult<Self> {
        let file = memfd_create(c"pronghorn-stacks", MemfdFlags::CLOEXEC)
            .map_err(std::io::Error::from)?
            .into();
        // A real-time signal has no other meaning; the first ones are those that programs use.
        let signal = py.import(intern!(py, "_signal"))?.getattr("SIGRTMAX")?.extract::<i32>()? - 5;
        let dump = Dump { signal, file };
        let register = py.import("faulthandler")?.getattr("register")?;
        register.call1((signal, dump.file.as_raw_fd(), true, false))?;
        Ok(dump)
    }

    /// Has the handler run in this thread, and gives what it wrote.
    fn take(&self) -> std::io::Result<String> {
        let mut file = &self.file;
        file.set_len(0)?;
        file.rewind()?;
        signal_hook::low_level::raise(self.signal)?;
        file.rewind()?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}
