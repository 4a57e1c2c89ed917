//! The types of the objects of a request, and what all of them share.

use std::{rc::Rc, sync::Arc};

use pronghorn_engine::Summary;
use pyo3::prelude::*;

use super::{
    awaitable::{Done, Wait},
    call::Call,
    callable,
    coroutine::Driven,
    current_task::CurrentTask,
    steps,
    waiter::{self, Awaited, Waiter},
};
use crate::raw::{Callable, Class};

/// The types of one event loop.
pub(in crate::asgi) struct Types {
    receive: Class<Callable<Rc<Call>>>,
    send: Class<Callable<Rc<Call>>>,
    driven: Class<Driven>,
    pub(super) wait: Class<Wait>,
    /// The one awaitable that is done from the start.
    pub(super) done: Py<PyAny>,
    waiter: Class<Waiter>,
    awaited: Class<Awaited>,
    pub(super) current_task: CurrentTask,
    event_loop: Py<PyAny>,
}

/// Knows the coroutines that [`Types::drive`] makes. It may be used by any thread that has the interpreter.
pub(in crate::asgi) struct Applications(Class<Driven>);

impl Applications {
    /// The request that `coroutine` answers; `None` after its end, and of any other object.
    pub(in crate::asgi) fn request_of(&self, coroutine: &Bound<'_, PyAny>) -> Option<Arc<Summary>> {
        self.0.value_of(coroutine)?.request()
    }
}

impl Types {
    /// Makes the types for the requests of `event_loop`.
    ///
    /// # Errors
    /// `MemoryError`.
    pub(in crate::asgi) fn new(py: Python<'_>, event_loop: Bound<'_, PyAny>) -> PyResult<Rc<Self>> {
        let done = steps::class(py, c"pronghorn.Done")?;
        Ok(Rc::new(Types {
            receive: Class::callable(py, c"pronghorn.receive")?,
            send: Class::callable(py, c"pronghorn.send")?,
            driven: steps::class(py, c"pronghorn.Application")?,
            wait: steps::class(py, c"pronghorn.Wait")?,
            done: done.instance(py, Done)?.unbind(),
            waiter: waiter::class(py)?,
            awaited: steps::class(py, c"pronghorn.Awaited")?,
            current_task: CurrentTask::new(&event_loop)?,
            event_loop: event_loop.unbind(),
        }))
    }

    /// The `receive` of `call`.
    ///
    /// # Errors
    /// `MemoryError`.
    pub(in crate::asgi) fn receive<'py>(
        &self,
        py: Python<'py>,
        call: Rc<Call>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.receive.instance(py, Callable::new(callable::receive, call))
    }

    /// The `send` of `call`.
    ///
    /// # Errors
    /// `MemoryError`.
    pub(in crate::asgi) fn send<'py>(
        &self,
        py: Python<'py>,
        call: Rc<Call>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.send.instance(py, Callable::new(callable::send, call))
    }

    /// Something for a task to wait for.
    ///
    /// # Errors
    /// `MemoryError`.
    #[inline]
    pub(super) fn waiter<'py>(self: &Rc<Self>, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.waiter.instance(py, Waiter::new(Rc::clone(self)))
    }

    /// What `object` is, if it is of [`waiter`](Types::waiter).
    #[inline]
    pub(super) fn as_waiter<'a>(&self, object: &'a Bound<'_, PyAny>) -> Option<&'a Waiter> {
        self.waiter.value_of(object)
    }

    /// What steps through a waiter.
    ///
    /// # Errors
    /// `MemoryError`.
    pub(super) fn awaited<'py>(
        &self,
        py: Python<'py>,
        awaited: Awaited,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.awaited.instance(py, awaited)
    }

    /// The loop of the requests.
    pub(super) fn event_loop<'py>(&self, py: Python<'py>) -> &Bound<'py, PyAny> {
        self.event_loop.bind(py)
    }

    /// What tells the coroutines of [`drive`](Types::drive) from others.
    pub(in crate::asgi) fn applications(&self, py: Python<'_>) -> Applications {
        Applications(self.driven.clone_ref(py))
    }

    /// What a task runs for `call`: `awaitable`, which the application returned, and then [`Conversation::ended`].
    ///
    /// # Errors
    /// `TypeError` when it cannot be awaited; `MemoryError`.
    ///
    /// [`Conversation::ended`]: super::Conversation::ended
    pub(in crate::asgi) fn drive<'py>(
        &self,
        call: Rc<Call>,
        awaitable: Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = awaitable.py();
        self.driven.instance(py, Driven::new(call, awaitable)?)
    }
}
