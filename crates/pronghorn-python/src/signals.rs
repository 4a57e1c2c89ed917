//! Python's handlers of the signals that end the server, put aside while the server has its own.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::{intern, prelude::*};

/// Puts the handlers aside. Python's own of SIGINT would raise KeyboardInterrupt inside whatever request the main thread runs.
///
/// False outside the main thread, where Python allows no such change: the server then leaves signals alone.
pub(crate) fn put_aside(py: Python<'_>) -> bool {
    let Ok(handlers) = current(py) else { return false };
    // Those of a worker were put aside when it was forked, before it ignored the signals.
    aside().get_or_insert(handlers);
    true
}

/// Ignores SIGTERM in a worker that has drained, and puts back the others: a supervisor's order and a signal to all processes may both
/// come, and the second must not cut what the application does at its end.
pub(crate) fn ignore_terminate(py: Python<'_>) {
    ignore(py, "SIGTERM");
    if let Some(handlers) = aside().as_mut() {
        handlers.retain(|(name, _)| *name != "SIGTERM");
    }
    put_back(py);
}

/// Ignores, in a process that a supervisor has just forked, the signals that are for the supervisor, and those that have a meaning once it serves.
pub(crate) fn ignore_until_served(py: Python<'_>) {
    put_aside(py);
    for name in ["SIGINT", "SIGHUP", "SIGTTIN", "SIGTTOU", "SIGUSR1", "SIGUSR2", "SIGABRT"] {
        ignore(py, name);
    }
}

fn ignore(py: Python<'_>, name: &str) {
    let ignored = module(py)
        .and_then(|module| set(py, name, &module.getattr(intern!(py, "SIG_IGN"))?).map(drop));
    if let Err(error) = ignored {
        log::warn!("{name} cannot be ignored: {error}");
    }
}

/// Puts back what was put aside, if anything was: after the server's end, and in a process forked from it, which must not
/// pass its signals on to the server.
pub(crate) fn put_back(py: Python<'_>) {
    let Some(handlers) = aside().take() else { return };
    for (name, handler) in handlers {
        if let Err(error) = set(py, name, handler.bind(py)) {
            log::warn!("Python's handler of {name} could not be restored: {error}");
        }
    }
}

fn current(py: Python<'_>) -> PyResult<Handlers> {
    let module = module(py)?;
    let default = module.getattr(intern!(py, "SIG_DFL"))?;
    let interrupt = set(py, "SIGINT", &default)?;
    let terminate = module.call_method1("getsignal", (module.getattr("SIGTERM")?,))?;
    // That of faulthandler would end the process, where the server prints stacks.
    let abort = set(py, "SIGABRT", &default)?;
    let handlers = [("SIGINT", interrupt), ("SIGTERM", terminate), ("SIGABRT", abort)];
    Ok(handlers.into_iter().map(|(name, handler)| (name, handler.unbind())).collect())
}

/// Sets a handler and gives the one before; None, which is a handler that is not Python's, counts as the default.
fn set<'py>(
    py: Python<'py>,
    name: &str,
    handler: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let module = module(py)?;
    let handler = match handler.is_none() {
        true => module.getattr(intern!(py, "SIG_DFL"))?,
        false => handler.clone(),
    };
    module.call_method1(intern!(py, "signal"), (module.getattr(name)?, handler))
}

/// The built-in module: `signal` would import `enum` for it.
fn module(py: Python<'_>) -> PyResult<Bound<'_, PyModule>> {
    py.import(intern!(py, "_signal"))
}

fn aside() -> MutexGuard<'static, Option<Handlers>> {
    ASIDE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Names of signals, and Python's handlers of them.
type Handlers = Vec<(&'static str, Py<PyAny>)>;

static ASIDE: Mutex<Option<Handlers>> = Mutex::new(None);
