//! One request as the objects of its application have it, and what of them waits.

use std::{cell::RefCell, mem, ops::Deref, rc::Rc, sync::Arc};

use pronghorn_engine::Summary;
use pyo3::{exceptions::PyRuntimeError, ffi, prelude::*, types::PyDict};

use super::{
    types::Types,
    waiter::{self, When},
};

/// What `receive` and `send` of one request do. None of its operations waits.
pub(in crate::asgi) trait Conversation {
    /// The next event for the application, taken when `receive()` is awaited, and again whenever what it waited for may have come.
    ///
    /// # Errors
    /// What the application is to see.
    fn receive<'py>(&self, py: Python<'py>) -> PyResult<Outcome<'py>>;

    /// Takes a message of the application, at the call of `send`.
    ///
    /// # Errors
    /// The message is not legal; `OSError` when the client has gone.
    fn send(&self, message: &Bound<'_, PyDict>) -> PyResult<Sent>;

    /// Whether there is room again, which an awaited `send` waits for.
    ///
    /// # Errors
    /// `OSError` when the client has gone.
    fn has_room(&self, py: Python<'_>) -> PyResult<bool>;

    /// What is told of the request. Any thread that has the interpreter may ask.
    fn summary(&self) -> &Arc<Summary>;

    /// Nobody waits in `receive` any more, as who did was cancelled.
    fn stops_receiving(&self) {}

    /// Whether there is nothing to wait for any more: what `receive` gives from here on, it gives at once.
    fn is_done(&self) -> bool {
        false
    }

    /// The application has come to its end, once. What is left of `receive` and `send` may be used still, and says so.
    fn ended(&self, py: Python<'_>, how: Ended<'_>);
}

/// What an operation came to.
pub(in crate::asgi) enum Outcome<'py> {
    /// Its result.
    Ready(Bound<'py, PyAny>),
    /// It is to be tried again later.
    Pending,
}

/// What became of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::asgi) enum Sent {
    /// There is room for more.
    Done,
    /// It is taken, but the next should wait until there is room.
    Full,
}

/// How an application came to its end.
pub(in crate::asgi) enum Ended<'a> {
    /// It returned.
    Returned,
    /// It raised this. The task raises it too only if it is a `CancelledError`.
    Raised(&'a PyErr),
    /// Its coroutine was closed, or dropped, before its end.
    Closed,
}

/// What may wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::asgi) enum Operation {
    /// `receive` waits for an event.
    Receive,
    /// `send` waits for room.
    Send,
}

impl Operation {
    /// What the application has called.
    pub(super) fn name(self) -> &'static str {
        match self {
            Operation::Receive => "receive",
            Operation::Send => "send",
        }
    }
}

/// A conversation, kept alive by `receive`, `send`, their awaitables, the coroutine and the host; and the futures of those who wait.
///
/// It belongs to the thread that made it. Others, if they have the interpreter, may at most drop it.
pub(in crate::asgi) struct Call<C: ?Sized = dyn Conversation> {
    pub(super) types: Rc<Types>,
    thread: *mut ffi::PyThreadState,
    waiting: RefCell<Vec<(Operation, Py<PyAny>)>>,
    conversation: C,
}

impl<C> Call<C> {
    /// A call of this thread.
    pub(in crate::asgi) fn new(_py: Python<'_>, types: &Rc<Types>, conversation: C) -> Rc<Self> {
        Rc::new(Call {
            types: Rc::clone(types),
            // SAFETY: attached (`_py`).
            thread: unsafe { ffi::PyThreadState_Get() },
            waiting: RefCell::new(Vec::new()),
            conversation,
        })
    }
}

impl<C: ?Sized> Deref for Call<C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.conversation
    }
}

impl<C: Conversation + ?Sized> Call<C> {
    /// Something of the request has changed: lets all try again who wait. For [`When::Now`] nothing of the application may be running.
    ///
    /// # Errors
    /// Those of the loop.
    pub(in crate::asgi) fn stir(&self, py: Python<'_>, when: When) -> PyResult<()> {
        self.wake(py, when, |_| true)
    }

    /// A message was taken: after the last, whoever waits in `receive` learns that there is no more.
    ///
    /// # Errors
    /// Those of the loop.
    #[inline]
    pub(super) fn has_sent(&self, py: Python<'_>) -> PyResult<()> {
        match self.waiting.borrow().is_empty() || !self.conversation.is_done() {
            true => Ok(()),
            false => self.wake(py, When::Soon, |_| true),
        }
    }

    /// A `receive` has its result. Others that wait have to say so anew.
    ///
    /// # Errors
    /// Those of the loop.
    #[inline]
    pub(super) fn has_received(&self, py: Python<'_>) -> PyResult<()> {
        self.wake(py, When::Soon, |operation| operation == Operation::Receive)
    }

    /// A `receive` that waited was given up.
    pub(super) fn gives_up_receiving(&self, py: Python<'_>) {
        let is_last = self.waiting.borrow().iter().all(|(other, _)| *other != Operation::Receive);
        if is_last && self.check_thread(py).is_ok() {
            self.conversation.stops_receiving();
        }
    }

    /// Tells that the application has ended, and lets all try again who wait on its behalf.
    pub(super) fn end(&self, py: Python<'_>, how: Ended<'_>) {
        self.conversation.ended(py, how);
        if let Err(error) = self.wake(py, When::Soon, |_| true) {
            error.write_unraisable(py, None);
        }
    }

    fn wake(
        &self,
        py: Python<'_>,
        when: When,
        goes_on: impl Fn(Operation) -> bool,
    ) -> PyResult<()> {
        let mut waiting = self.waiting.borrow_mut();
        let only = match &waiting[..] {
            [] => return Ok(()),
            [(operation, _)] if goes_on(*operation) => waiting.pop(),
            _ => None,
        };
        drop(waiting);
        if let Some((_, waiter)) = only {
            return waiter::wake(waiter.bind(py), when);
        }
        // Nothing is borrowed while the loop's code runs.
        let (woken, others) =
            self.waiting.take().into_iter().partition(|(operation, _)| goes_on(*operation));
        let newer = mem::replace(&mut *self.waiting.borrow_mut(), others);
        debug_assert!(newer.is_empty());
        let woken: Vec<(Operation, Py<PyAny>)> = woken;
        let wake = |(_, waiter): &(Operation, Py<PyAny>)| waiter::wake(waiter.bind(py), when);
        woken.iter().map(wake).fold(Ok(()), Result::and)
    }

    /// A future that is done when `operation` is to be tried again, as a task takes it.
    ///
    /// # Errors
    /// Those of the loop.
    pub(super) fn wait<'py>(
        &self,
        py: Python<'py>,
        operation: Operation,
    ) -> PyResult<Bound<'py, PyAny>> {
        let waiter = self.types.waiter(py)?;
        self.waiting.borrow_mut().push((operation, waiter.clone().unbind()));
        Ok(waiter)
    }

    /// Nobody waits for `future` any more.
    pub(super) fn forget(&self, future: &Py<PyAny>) {
        let mut waiting = self.waiting.borrow_mut();
        let place = waiting.iter().position(|(_, other)| other.is(future));
        let forgotten = place.map(|place| waiting.swap_remove(place));
        drop(waiting);
        drop(forgotten);
    }

    /// # Errors
    /// `RuntimeError` in another thread than that of the loop.
    #[inline]
    pub(super) fn check_thread(&self, _py: Python<'_>) -> PyResult<()> {
        // SAFETY: attached (`_py`).
        match self.thread == unsafe { ffi::PyThreadState_Get() } {
            true => Ok(()),
            false => Err(elsewhere()),
        }
    }
}

#[cold]
fn elsewhere() -> PyErr {
    PyRuntimeError::new_err(
        "receive and send work in the thread of the event loop only: use asyncio.run_coroutine_threadsafe elsewhere",
    )
}
