//! Failures of the application: the log gets all of it, the client none unless `debug` is on.

use pyo3::{intern, prelude::*, types::PyList};

use crate::statsd::EXCEPTION;

use super::call::{Call, Failure};
use crate::interruption::RequestTimeout;

/// Ends the request of a response that failed: a plain 500 when nothing was sent, else the connection is aborted.
pub(super) fn settle(py: Python<'_>, call: &Call<'_, '_, '_>, outcome: Result<(), Failure>) {
    match outcome {
        Ok(()) => return,
        Err(Failure::Raised(error))
            if call.is_overdue() && error.is_instance_of::<RequestTimeout>(py) =>
        {
            log::info!("{}: has ended, as it was interrupted", call.label());
        }
        Err(Failure::Raised(error)) if !call.is_gone() => {
            let traceback = traceback(py, &error);
            report_text(call, "the application failed", &traceback);
            return call.fail(Some(&traceback));
        }
        Err(_) => log::debug!("{}: the client closed the connection", call.label()),
    }
    call.fail(None);
}

/// Writes `error` to the log with its traceback, and which request it belongs to.
pub(super) fn report(py: Python<'_>, call: &Call<'_, '_, '_>, what: &str, error: &PyErr) {
    report_text(call, what, &traceback(py, error));
}

fn report_text(call: &Call<'_, '_, '_>, what: &str, traceback: &str) {
    log::error!(target: EXCEPTION, "{}: {what}\n{}", call.label(), traceback.trim_end());
}

/// What the interpreter would print.
fn traceback(py: Python<'_>, error: &PyErr) -> String {
    // The interruption of a request over its time may come just here, once.
    let lines = format_exception(py, error).or_else(|_| format_exception(py, error));
    lines.unwrap_or_else(|_| error.to_string())
}

fn format_exception(py: Python<'_>, error: &PyErr) -> PyResult<String> {
    let arguments = (error.get_type(py), error.value(py), error.traceback(py));
    let format = py.import(intern!(py, "traceback"))?.getattr(intern!(py, "format_exception"))?;
    let lines = format.call1(arguments)?.cast_into::<PyList>()?;
    lines.iter().map(|line| Ok(line.str()?.to_string_lossy().into_owned())).collect()
}
