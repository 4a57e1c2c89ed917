//! Telling people that an application failed.

use pyo3::{
    exceptions::{PyKeyboardInterrupt, PySystemExit},
    prelude::*,
};

use crate::{app, statsd::EXCEPTION};

/// Writes what the application raised for the request that `label` names to the log, and gives the traceback.
pub(super) fn report(py: Python<'_>, label: &str, error: &PyErr) -> String {
    let text = app::traceback(py, error);
    log::error!(target: EXCEPTION, "{label}: the application failed\n{}", text.trim_end());
    text
}

/// Whether `error` is what tasks let through to their loop, which it ends; if so, it is told that the server goes on.
pub(super) fn survives(py: Python<'_>, error: &PyErr) -> bool {
    let is_of_task =
        error.is_instance_of::<PySystemExit>(py) || error.is_instance_of::<PyKeyboardInterrupt>(py);
    if is_of_task {
        // The traceback is told by whoever has the task, or by asyncio.
        log::error!("a task has raised {}; the server goes on", app::one_line(py, error));
    }
    is_of_task
}
