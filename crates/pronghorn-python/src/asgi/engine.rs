//! The engine as the event loop sees it, and what the loop calls for it.

use std::{
    io,
    os::fd::{BorrowedFd, RawFd},
    rc::Rc,
};

use pyo3::prelude::*;

/// A server whose turns the event loop takes. On the loop's thread only.
///
/// A turn runs the application, which may run the loop again: no method may keep anything borrowed over that.
pub(crate) trait Engine {
    /// A descriptor that is readable when there may be something for [`turn`](Engine::turn).
    fn selector(&self) -> RawFd;

    /// A descriptor that is readable when something was left for [`turn`](Engine::turn) by another thread.
    fn bell(&self) -> RawFd;

    /// Has [`takes_other`](Engine::takes_other) tell of `descriptor`, for which the loop waits. It keeps a descriptor of its own.
    ///
    /// # Errors
    /// The system refuses.
    fn watch_also(&self, descriptor: BorrowedFd<'_>) -> io::Result<()>;

    /// Waits until something is there, `millis` at most (`None`: without end), or a signal interrupts. Runs no Python code.
    fn poll(&self, millis: Option<u64>);

    /// Whether the descriptor of [`watch_also`](Engine::watch_also) was found readable since this was asked last.
    fn takes_other(&self) -> bool;

    /// Makes the bell silent.
    fn hush(&self);

    /// Gives the application what is there for it; whether that was anything.
    fn turn(&self, py: Python<'_>) -> bool;
}

/// What the event loop calls when a descriptor of the engine is readable.
#[pyclass(unsendable)]
pub(super) struct Readable(pub(super) Rc<dyn Engine>);

#[pymethods]
impl Readable {
    fn take_turn(&self, py: Python<'_>) {
        self.0.poll(Some(0));
        self.0.turn(py);
    }

    fn answer_bell(&self, py: Python<'_>) {
        self.0.hush();
        self.0.turn(py);
    }
}
