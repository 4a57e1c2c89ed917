//! Steps of an application that its task does not take.
//!
//! A task that waits for a message is asked for the result of what it waits for, takes a step, asks what it yields for its loop, and gives
//! that a callback: a third of what an echoed WebSocket message costs. An application that waits again and again goes on without: its task
//! waits for one waiter, the **outer** one, while the messages come, and the coroutine's steps are taken in the task's context and with it
//! as the running task. The task is woken as soon as there is something for it to see: a future of somebody else, the end, an exception.

use std::cell::{Cell, RefCell};

use pyo3::{exceptions::asyncio::CancelledError, intern, prelude::*};

use super::{
    call::Call,
    coroutine::Driven,
    steps::Step,
    waiter::{self, When},
};
use crate::raw::Instance;

/// How far an application goes on without its task.
#[derive(Default)]
pub(super) struct Direct {
    /// Who waits once is woken by the task: that costs less.
    has_waited: Cell<bool>,
    /// What the task waits for.
    outer: RefCell<Option<Py<PyAny>>>,
    /// What a step came to, for the task to see.
    kept: RefCell<Option<Kept>>,
}

/// What a step came to.
pub(super) enum Kept {
    Yield(Py<PyAny>),
    Return,
    Raise(PyErr),
}

impl Direct {
    /// The task goes on: it waits no more, and is to see what there is.
    pub(super) fn take_kept(&self) -> Option<Kept> {
        drop(self.outer.take());
        self.kept.take()
    }

    /// Lets the task go on, if it waits.
    fn wake_task(&self, py: Python<'_>, when: When) -> PyResult<()> {
        let outer = self.outer.borrow().as_ref().map(|outer| outer.clone_ref(py));
        outer.map_or(Ok(()), |outer| waiter::wake(outer.bind(py), when).map(drop))
    }
}

/// What `application` waited for has come: takes a step of it, or lets its task do so. `application` is a [`Driven`].
///
/// # Errors
/// What ends the loop, if the application raised it; those of the loop.
pub(super) fn go_on(application: &Bound<'_, PyAny>, when: When) -> PyResult<()> {
    let py = application.py();
    // SAFETY: attached, and kept alive, by `application`, which is of the class in all uses.
    let driven = unsafe { Instance::<Driven>::value(application.as_ptr()) };
    let Some(call) = driven.call() else { return Ok(()) };
    let step = match when {
        When::Now => driven.step_directly(py, &call),
        When::Soon => None,
    };
    match step {
        None => driven.direct.wake_task(py, when),
        Some(Ok(Step::Yield(next))) if takes_on(&call, &next, application) => Ok(()),
        Some(step) => {
            driven.direct.kept.replace(Some(step.into()));
            driven.direct.wake_task(py, When::Now)
        }
    }
}

/// Whether `next` is a wait of a request, which `application` goes on from without its task.
fn takes_on(call: &Call, next: &Bound<'_, PyAny>, application: &Bound<'_, PyAny>) -> bool {
    call.types.as_waiter(next).is_some_and(|waiter| waiter.take_on(application))
}

impl Driven {
    /// `None` if the task has to take the step: it is cancelled, or something is not as it is with tasks of asyncio.
    fn step_directly<'py>(&self, py: Python<'py>, call: &Call) -> Option<PyResult<Step<'py>>> {
        let outer = self.direct.outer.borrow().as_ref()?.clone_ref(py).into_bound(py);
        // A task that is cancelled within the step learns of it afterwards, as any task does.
        let callback = call.types.as_waiter(&outer)?.take_callback()?;
        let step = callback.owner(py).and_then(|task| {
            let step = || self.go_on(py.None().bind(py));
            callback.within(py, || call.types.current_task.during(&task, step).ok()).flatten()
        });
        match waiter::give_back(&outer, callback) {
            Ok(()) => step,
            Err(error) => Some(step.unwrap_or(Err(error))),
        }
    }

    /// What the task sees of `step`: for a wait of a request, one that lasts as long as steps are taken without the task.
    pub(super) fn wait_directly<'py>(
        &self,
        this: &Bound<'py, PyAny>,
        step: PyResult<Step<'py>>,
    ) -> PyResult<Step<'py>> {
        let Ok(Step::Yield(next)) = &step else { return step };
        let Some(call) = self.call() else { return step };
        if call.types.as_waiter(next).is_none() || !self.direct.has_waited.replace(true) {
            return step;
        }
        let outer = call.types.waiter(this.py())?;
        if !takes_on(&call, next, this) {
            return step;
        }
        self.direct.outer.replace(Some(outer.clone().unbind()));
        Ok(Step::Yield(outer))
    }

    /// Gives the task what was kept for it. If it throws by then, it is as if it had been about to do so before the step.
    pub(super) fn see<'py>(
        &self,
        this: &Bound<'py, PyAny>,
        kept: Kept,
        thrown: Option<PyErr>,
    ) -> PyResult<Step<'py>> {
        let py = this.py();
        let Some(error) = thrown else { return kept.into_step(py) };
        match kept {
            Kept::Yield(future) if is_cancelled_by(py, &error, &future)? => {
                Ok(Step::Yield(future.into_bound(py)))
            }
            Kept::Yield(_) => self.wait_directly(this, self.go_on_with(py, error)),
            Kept::Return => Err(error),
            Kept::Raise(raised) => Err(raised),
        }
    }
}

/// A task that is cancelled cancels what it is about to wait for, and takes the exception from there.
fn is_cancelled_by(py: Python<'_>, error: &PyErr, future: &Py<PyAny>) -> PyResult<bool> {
    if !error.is_instance_of::<CancelledError>(py) {
        return Ok(false);
    }
    match future.bind(py).getattr_opt(intern!(py, "cancel"))? {
        Some(cancel) => cancel.call0()?.is_truthy(),
        None => Ok(false),
    }
}

impl Kept {
    fn into_step(self, py: Python<'_>) -> PyResult<Step<'_>> {
        match self {
            Kept::Yield(future) => Ok(Step::Yield(future.into_bound(py))),
            Kept::Return => Ok(Step::Return(py.None().into_bound(py))),
            Kept::Raise(error) => Err(error),
        }
    }
}

impl From<PyResult<Step<'_>>> for Kept {
    fn from(step: PyResult<Step<'_>>) -> Self {
        match step {
            Ok(Step::Yield(future)) => Kept::Yield(future.unbind()),
            Ok(Step::Return(_)) => Kept::Return,
            Err(error) => Kept::Raise(error),
        }
    }
}
