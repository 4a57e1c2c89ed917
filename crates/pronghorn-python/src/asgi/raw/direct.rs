//! Steps of an application that its task does not take.
//!
//! A task that waits for a message is asked for the result of what it waits for, takes a step, asks what it yields for its loop, and gives
//! that a callback: a third of what an echoed WebSocket message costs. An application that waits again and again goes on without: its task
//! waits for one waiter, the **outer** one, while the messages come, and the coroutine's steps are taken in the task's context and with it
//! as the running task. The task is woken as soon as there is something for it to see: a future of somebody else, the end, an exception.

use std::cell::{Cell, RefCell};

use pyo3::{exceptions::asyncio::CancelledError, intern, prelude::*, types::PyTuple};

use super::{
    call::Call,
    coroutine::Driven,
    steps::Step,
    waiter::{self, Waiter, When},
};
use crate::raw::{Instance, guarded};

/// How far an application goes on without its task.
#[derive(Default)]
pub(super) struct Direct {
    /// Who waits once is woken by the task: that costs less.
    has_waited: Cell<bool>,
    /// What the task waits for.
    outer: RefCell<Option<Py<PyAny>>>,
    /// What the coroutine waits for.
    inner: RefCell<Option<Py<PyAny>>>,
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
    /// The task of `this` goes on: it waits no more, and is to see what there is. With `thrown` what the coroutine waits for is cancelled
    /// too, if the task was.
    ///
    /// # Errors
    /// Those of the loop.
    pub(super) fn task_goes_on(
        &self,
        this: &Bound<'_, PyAny>,
        thrown: Option<&PyErr>,
    ) -> PyResult<Option<Kept>> {
        let py = this.py();
        drop(self.outer.take());
        if let Some(inner) = self.inner.take() {
            waiter::leave(inner.bind(py), this);
            if let Some(error) = thrown.filter(|error| error.is_instance_of::<CancelledError>(py)) {
                let message = cancel_args(py, error)?.iter().next();
                waiter::cancel(inner.bind(py), message.map_or_else(|| py.None(), Bound::unbind))?;
            }
        }
        Ok(self.kept.take())
    }

    /// Nobody goes on any more.
    pub(super) fn forget(&self) {
        drop((self.outer.take(), self.inner.take(), self.kept.take()));
    }

    /// Lets the task go on, if it waits.
    fn wake_task(&self, py: Python<'_>, when: When) -> PyResult<()> {
        let outer = self.outer.borrow().as_ref().map(|outer| outer.clone_ref(py));
        outer.map_or(Ok(()), |outer| waiter::wake(outer.bind(py), when))
    }
}

/// `waited_for` has come: takes a step of `application`, a [`Driven`], if it waits for that, or lets its task do so.
///
/// # Errors
/// What ends the loop, if the application raised it; those of the loop.
pub(super) fn woken(
    application: &Bound<'_, PyAny>,
    waited_for: &Bound<'_, PyAny>,
    when: When,
) -> PyResult<()> {
    let py = application.py();
    // SAFETY: attached, and kept alive, by `application`: it is what `Driven::waits` has put into `Callback::Application`, an object of
    // that class.
    let driven = unsafe { Instance::<Driven>::value(application.as_ptr()) };
    let waits = driven.direct.inner.borrow().as_ref().is_some_and(|inner| inner.is(waited_for));
    let Some(call) = driven.call().filter(|_| waits) else { return Ok(()) };
    let inner = driven.direct.inner.take();
    drop(inner);
    let stepped = match when {
        When::Now => driven.step_directly(py, &call)?,
        When::Soon => None,
    };
    match stepped {
        None => driven.direct.wake_task(py, when),
        Some(Stepped { step: Ok(Step::Yield(next)), is_cancelled: false })
            if driven.waits(&call, &next, application) =>
        {
            Ok(())
        }
        Some(Stepped { step, .. }) => {
            driven.direct.kept.replace(Some(step.into()));
            driven.direct.wake_task(py, When::Now)
        }
    }
}

/// A step that was taken without the task.
struct Stepped<'py> {
    step: PyResult<Step<'py>>,
    /// The task was cancelled meanwhile.
    is_cancelled: bool,
}

impl Driven {
    /// Whether `next` is a wait of a request: `this` goes on from there without its task then.
    fn waits(&self, call: &Call, next: &Bound<'_, PyAny>, this: &Bound<'_, PyAny>) -> bool {
        let waits = call.types.as_waiter(next).is_some() && waiter::wait(next, this);
        if waits {
            self.direct.inner.replace(Some(next.clone().unbind()));
        }
        waits
    }

    /// `None` if the task has to take the step: it is cancelled, or something is not as it is with tasks of asyncio.
    ///
    /// # Errors
    /// Those of the loop.
    fn step_directly<'py>(&self, py: Python<'py>, call: &Call) -> PyResult<Option<Stepped<'py>>> {
        let outer = self.direct.outer.borrow().as_ref().map(|outer| outer.clone_ref(py));
        let Some(outer) = outer.map(|outer| outer.into_bound(py)) else { return Ok(None) };
        // A task that is cancelled within the step learns of it afterwards, as any task does.
        let callback = call.types.as_waiter(&outer).and_then(Waiter::begin_step);
        let Some(callback) = callback else { return Ok(None) };
        let step = callback.owner(py).and_then(|task| {
            let step = || guarded(|| self.take_step(py.None().bind(py)));
            callback.within(py, || call.types.current_task.during(&task, step).ok()).flatten()
        });
        let is_cancelled = waiter::end_step(&outer, callback)?;
        Ok(step.map(|step| Stepped { step, is_cancelled }))
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
        if !self.waits(&call, next, this) {
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
        let Some(error) = thrown else {
            return self.wait_directly(this, kept.into_step(py));
        };
        match kept {
            Kept::Yield(future) if is_cancelled_by(py, &error, &future)? => {
                Ok(Step::Yield(future.into_bound(py)))
            }
            Kept::Yield(_) => self.wait_directly(this, self.take_step_with(py, error)),
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
        Some(cancel) => cancel.call1(cancel_args(py, error)?)?.is_truthy(),
        None => Ok(false),
    }
}

/// The message of who cancelled, if there is one, as arguments.
fn cancel_args<'py>(py: Python<'py>, error: &PyErr) -> PyResult<Bound<'py, PyTuple>> {
    Ok(error.value(py).getattr(intern!(py, "args"))?.cast_into()?)
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
