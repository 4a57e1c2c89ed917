//! Processes that the application forks, by `os.fork` or multiprocessing. Such a child has a copy of all the server has, and
//! must neither serve nor act for the server.

use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::{
    intern,
    prelude::*,
    sync::PyOnceLock,
    types::{IntoPyDict, PyCFunction, PyTuple},
};

use crate::signals;

/// Has Python tell of each fork from here on.
///
/// # Errors
/// `MemoryError`.
pub(crate) fn watch(py: Python<'_>) -> PyResult<()> {
    static WATCHED: PyOnceLock<()> = PyOnceLock::new();
    IS_CHILD.store(false, Ordering::Relaxed);
    WATCHED.get_or_try_init(py, || register(py)).copied()
}

/// Whether this process was forked from the one that serves.
#[inline]
pub(crate) fn is_child() -> bool {
    IS_CHILD.load(Ordering::Relaxed)
}

/// Ends a child that came back from the application: the request, of which `label` tells, is for its parent to answer.
pub(crate) fn end_child(label: &str) -> ! {
    log::error!(
        "{label}: a process that the application forked came back into the server and is ended. End it with os._exit()"
    );
    pronghorn_engine::exit_now(1)
}

fn register(py: Python<'_>) -> PyResult<()> {
    let hooks = [
        ("before", hook(py, |_| pronghorn_engine::hold_signals())?),
        ("after_in_parent", hook(py, go_on)?),
        ("after_in_child", hook(py, begin_child)?),
    ];
    let os = py.import(intern!(py, "os"))?;
    os.call_method("register_at_fork", (), Some(&hooks.into_py_dict(py)?)).map(drop)
}

fn hook(py: Python<'_>, run: fn(Python<'_>)) -> PyResult<Bound<'_, PyCFunction>> {
    PyCFunction::new_closure(py, None, None, move |arguments: &Bound<'_, PyTuple>, _| {
        run(arguments.py())
    })
}

fn go_on(_py: Python<'_>) {
    pronghorn_engine::note_fork();
    pronghorn_engine::release_signals();
}

/// The server's handlers of signals would tell the server of the child's signals, so none is let in before they are gone.
fn begin_child(py: Python<'_>) {
    IS_CHILD.store(true, Ordering::Relaxed);
    signals::put_back(py);
    pronghorn_engine::release_signals();
}

static IS_CHILD: AtomicBool = AtomicBool::new(false);
