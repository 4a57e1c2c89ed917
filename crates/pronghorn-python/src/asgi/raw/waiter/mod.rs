//! What a task waits for while an operation is pending: a future, as far as tasks and those who drive coroutines by hand use one.
//!
//! A future of asyncio gives its callback to the loop, which runs it in a later round, each by itself. This one can be woken from the
//! turn in which the server finds out: the task goes on at once, in its own context, with the others of that turn.

mod awaited;
mod callback;
mod methods;

use std::{
    cell::{Cell, RefCell},
    mem,
    rc::Rc,
};

use pyo3::{
    exceptions::asyncio::{CancelledError, InvalidStateError},
    prelude::*,
};

pub(super) use self::awaited::Awaited;
use self::callback::Callback;
pub(super) use self::callback::leave;
use super::types::Types;
use crate::raw::{Class, Instance};

/// One wait of one task.
pub(super) struct Waiter {
    types: Rc<Types>,
    state: RefCell<State>,
    /// A task yields what it waits for with this set, and clears it when it has taken note.
    is_blocking: Cell<bool>,
}

/// How far it is.
enum State {
    Pending(Who),
    /// It is worth trying again.
    Done,
    /// With the message of who cancelled it.
    Cancelled(Py<PyAny>),
}

/// Who waits.
enum Who {
    Nobody,
    /// A task, or an application that goes on without its task.
    One(Callback),
    /// More than that: who gathers what a coroutine yields.
    Many(Vec<Callback>),
    /// The task, while a step is taken without it.
    Stepping {
        /// It was cancelled within the step.
        is_cancelled: bool,
    },
}

/// When the task goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::asgi) enum When {
    /// Before the wake returns: no task may be running.
    Now,
    /// In the loop's next round.
    Soon,
}

/// The type of [`Waiter`]s.
///
/// # Errors
/// `MemoryError`.
pub(super) fn class(py: Python<'_>) -> PyResult<Class<Waiter>> {
    methods::class(py)
}

/// The waiter that `object` is.
fn waiter<'a>(object: &'a Bound<'_, PyAny>) -> &'a Waiter {
    // SAFETY: attached, and kept alive, by `object`, which is of the class in all uses here.
    unsafe { Instance::<Waiter>::value(object.as_ptr()) }
}

/// Lets those who wait for `object`, a [`Waiter`], go on; again it does nothing.
///
/// # Errors
/// What ends the loop, if the task raised it; those of the loop.
pub(super) fn wake(object: &Bound<'_, PyAny>, when: When) -> PyResult<()> {
    settle(object, State::Done, when).map(drop)
}

/// Gives whether it was pending.
fn settle(object: &Bound<'_, PyAny>, state: State, when: When) -> PyResult<bool> {
    let this = waiter(object);
    if this.is_done() {
        return Ok(false);
    }
    let State::Pending(who) = this.state.replace(state) else { return Ok(false) };
    match who {
        Who::Nobody | Who::Stepping { .. } => {}
        Who::One(callback) => callback.call(object, when)?,
        Who::Many(callbacks) => {
            let call = |callback: Callback| callback.call(object, when);
            callbacks.into_iter().map(call).fold(Ok(()), Result::and)?;
        }
    }
    Ok(true)
}

/// The step is over: the task waits for `object`, a [`Waiter`], as before. Gives whether it was cancelled meanwhile.
///
/// # Errors
/// Those of the loop.
pub(super) fn end_step(object: &Bound<'_, PyAny>, callback: Callback) -> PyResult<bool> {
    let mut state = waiter(object).state.borrow_mut();
    if let State::Pending(who @ Who::Stepping { .. }) = &mut *state {
        let stepping = mem::replace(who, Who::One(callback));
        return Ok(matches!(stepping, Who::Stepping { is_cancelled: true }));
    }
    drop(state);
    callback::add(object, callback).map(|()| false)
}

/// The coroutine `application`, a [`Driven`](super::coroutine::Driven), waits for `object`, which it has yielded, and goes on without its
/// task. False if that is not to be waited for.
pub(super) fn wait(object: &Bound<'_, PyAny>, application: &Bound<'_, PyAny>) -> bool {
    let this = waiter(object);
    let waits = !this.is_done() && this.is_blocking.replace(false);
    let callback = || Callback::Application(application.clone().unbind());
    waits && callback::add(object, callback()).is_ok()
}

/// Cancels `object`, a [`Waiter`], if it is pending.
///
/// # Errors
/// Those of the loop.
pub(super) fn cancel(object: &Bound<'_, PyAny>, message: Py<PyAny>) -> PyResult<()> {
    settle(object, State::Cancelled(message), When::Soon).map(drop)
}

impl Waiter {
    pub(super) fn new(types: Rc<Types>) -> Self {
        let state = RefCell::new(State::Pending(Who::Nobody));
        Waiter { types, state, is_blocking: Cell::new(true) }
    }

    /// A step is taken without the task that waits: takes out how it is called; `None` if no task waits.
    pub(super) fn begin_step(&self) -> Option<Callback> {
        let mut state = self.state.borrow_mut();
        let State::Pending(who @ Who::One(Callback::Function { .. })) = &mut *state else {
            return None;
        };
        match mem::replace(who, Who::Stepping { is_cancelled: false }) {
            Who::One(callback) => Some(callback),
            _ => None,
        }
    }

    /// Whether a step is taken without the task: that it is cancelled is for after the step then.
    fn puts_off_cancel(&self) -> bool {
        let mut state = self.state.borrow_mut();
        let State::Pending(Who::Stepping { is_cancelled }) = &mut *state else { return false };
        *is_cancelled = true;
        true
    }

    /// # Errors
    /// It was cancelled; it is pending.
    fn result<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &*self.state.borrow() {
            State::Done => Ok(py.None().into_bound(py)),
            State::Cancelled(message) => Err(cancelled(message.bind(py))),
            State::Pending(_) => Err(InvalidStateError::new_err("Result is not set.")),
        }
    }

    fn cancel_message<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        match &*self.state.borrow() {
            State::Cancelled(message) => message.bind(py).clone(),
            _ => py.None().into_bound(py),
        }
    }

    fn is_done(&self) -> bool {
        !matches!(*self.state.borrow(), State::Pending(_))
    }

    fn event_loop<'py>(&self, py: Python<'py>) -> &Bound<'py, PyAny> {
        self.types.event_loop(py)
    }
}

#[cold]
fn cancelled(message: &Bound<'_, PyAny>) -> PyErr {
    match message.is_none() {
        true => CancelledError::new_err(()),
        false => CancelledError::new_err((message.clone().unbind(),)),
    }
}
