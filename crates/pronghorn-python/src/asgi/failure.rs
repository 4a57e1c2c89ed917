//! Telling people that an application failed.

use pyo3::{
    exceptions::{PyException, PyKeyboardInterrupt, PySystemExit, asyncio::CancelledError},
    intern,
    prelude::*,
};

use crate::{app, statsd::EXCEPTION};

/// Writes what the application raised for the request that `label` names to the log, and gives the traceback.
pub(super) fn report(py: Python<'_>, label: &str, error: &PyErr) -> String {
    let text = app::traceback(py, error);
    log::error!(target: EXCEPTION, "{label}: the application failed\n{}", text.trim_end());
    text
}

/// Whether `error` is what no handler of `Exception` catches, and is no cancellation either: a failure whatever the client does.
pub(super) fn is_fatal(py: Python<'_>, error: &PyErr) -> bool {
    !error.is_instance_of::<PyException>(py) && !error.is_instance_of::<CancelledError>(py)
}

/// Whether `error` is what tasks and callbacks let through to their loop, whose run it ends.
pub(super) fn ends_loops(py: Python<'_>, error: &PyErr) -> bool {
    error.is_instance_of::<PySystemExit>(py) || error.is_instance_of::<PyKeyboardInterrupt>(py)
}

/// Whether `error` [ends loops](ends_loops); if so, it is told, and that the server goes on.
pub(super) fn survives(py: Python<'_>, error: &PyErr) -> bool {
    let is_survived = ends_loops(py, error);
    if is_survived {
        let what = app::one_line(py, error);
        if is_told(error.value(py)).unwrap_or(false) {
            log::warn!("a task of the application has raised {what}; the server goes on");
        } else {
            let traceback = app::traceback(py, error);
            log::error!(
                target: EXCEPTION,
                "a task or a callback of the application has raised {what}; the server goes on\n{}",
                traceback.trim_end()
            );
        }
    }
    is_survived
}

/// Whether `exception` is the end of `task`. Nothing is changed: asyncio takes what the task is asked for as told.
pub(super) fn has_raised(task: &Bound<'_, PyAny>, exception: &Bound<'_, PyAny>) -> bool {
    task.getattr(intern!(task.py(), "_exception")).is_ok_and(|raised| raised.is(exception))
}

/// Whether asyncio has told of `exception`, as it does when a task is dropped whose exception nobody has asked for. It will not later.
///
/// # Errors
/// Those of asyncio.
fn is_told(exception: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = exception.py();
    let class = py.import("asyncio")?.getattr("Task")?;
    // The loop gives the exception without its task, and asyncio lists no tasks that are done.
    for object in py.import("gc")?.call_method0("get_objects")?.try_iter()? {
        let object = object?;
        if object.get_type().is_subclass(&class)? && has_raised(&object, exception) {
            return object.call_method0("exception").map(|_| false);
        }
    }
    // uvloop drops a task of its own before it lets the exception through. A callback has no task.
    comes_from_coroutine(exception)
}

fn comes_from_coroutine(exception: &Bound<'_, PyAny>) -> PyResult<bool> {
    /// Of code objects, as `inspect` has it.
    const CO_COROUTINE: u32 = 0x80;
    let mut traceback = exception.getattr("__traceback__")?;
    while !traceback.is_none() {
        let code = traceback.getattr("tb_frame")?.getattr("f_code")?;
        if code.getattr("co_flags")?.extract::<u32>()? & CO_COROUTINE != 0 {
            return Ok(true);
        }
        traceback = traceback.getattr("tb_next")?;
    }
    Ok(false)
}
