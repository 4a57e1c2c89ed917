//! Who is to be called when a wait is over.

use pyo3::{exceptions::PyTypeError, ffi, intern, prelude::*, types::PyDict};

use super::{super::direct, State, When, Who, waiter};

/// Who waits.
pub(in crate::asgi::raw) enum Callback {
    /// Called with the waiter.
    Function { function: Py<PyAny>, context: Option<Py<PyAny>> },
    /// An application's coroutine, a [`Driven`](super::super::coroutine::Driven), which goes on without its task.
    Application(Py<PyAny>),
}

impl Callback {
    pub(super) fn new(function: &Bound<'_, PyAny>, context: Option<&Bound<'_, PyAny>>) -> Self {
        Callback::Function {
            function: function.clone().unbind(),
            context: context.map(|context| context.clone().unbind()),
        }
    }

    fn function(&self) -> Option<&Py<PyAny>> {
        match self {
            Callback::Function { function, .. } => Some(function),
            Callback::Application(_) => None,
        }
    }

    /// Whose method it is: the task's, if a task waits.
    pub(in crate::asgi::raw) fn owner<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.function()?.bind(py).getattr_opt(intern!(py, "__self__")).ok().flatten()
    }

    /// Runs `f` in its context; `None` if that cannot be entered.
    pub(in crate::asgi::raw) fn within<R>(
        &self,
        py: Python<'_>,
        f: impl FnOnce() -> R,
    ) -> Option<R> {
        let Callback::Function { context: Some(context), .. } = self else { return None };
        let context = context.bind(py);
        enter_context(context).then(|| {
            let result = f();
            exit_context(context);
            result
        })
    }

    pub(super) fn call(self, object: &Bound<'_, PyAny>, when: When) -> PyResult<()> {
        let py = object.py();
        let (function, context) = match &self {
            Callback::Function { function, context } => (function.bind(py), context),
            Callback::Application(application) => {
                return direct::woken(application.bind(py), object, when);
            }
        };
        let now = || self.within(py, || function.call1((object,)).map(drop));
        match (when == When::Now).then(now).flatten() {
            Some(called) => called,
            None => call_soon(object, function, context.as_ref()),
        }
    }
}

fn call_soon(
    object: &Bound<'_, PyAny>,
    function: &Bound<'_, PyAny>,
    context: Option<&Py<PyAny>>,
) -> PyResult<()> {
    let py = object.py();
    let keywords = PyDict::new(py);
    if let Some(context) = context {
        keywords.set_item(intern!(py, "context"), context)?;
    }
    let event_loop = waiter(object).event_loop(py);
    event_loop.call_method(intern!(py, "call_soon"), (function, object), Some(&keywords)).map(drop)
}

/// Calls `callback` when `object`, a waiter, is done: in the loop's next round, if it is.
pub(super) fn add(object: &Bound<'_, PyAny>, callback: Callback) -> PyResult<()> {
    let mut state = waiter(object).state.borrow_mut();
    match &mut *state {
        State::Pending(Who::Many(callbacks)) => callbacks.push(callback),
        State::Pending(Who::Stepping { .. }) => {
            return Err(PyTypeError::new_err("a task that goes on waits for this already"));
        }
        State::Pending(who) => {
            *who = match std::mem::replace(who, Who::Nobody) {
                Who::One(first) => Who::Many(vec![first, callback]),
                _ => Who::One(callback),
            }
        }
        State::Done | State::Cancelled(_) => {
            drop(state);
            return callback.call(object, When::Soon);
        }
    }
    Ok(())
}

/// Takes every callback whose function equals `function` out; gives how many there were.
///
/// # Errors
/// What the comparison raises.
pub(super) fn remove(object: &Bound<'_, PyAny>, function: &Bound<'_, PyAny>) -> PyResult<usize> {
    let py = object.py();
    let this = waiter(object);
    let functions: Vec<Py<PyAny>> = match &*this.state.borrow() {
        State::Pending(Who::One(one)) => {
            one.function().map(|it| it.clone_ref(py)).into_iter().collect()
        }
        State::Pending(Who::Many(many)) => {
            many.iter().filter_map(|one| Some(one.function()?.clone_ref(py))).collect()
        }
        _ => return Ok(0),
    };
    let mut equal = Vec::new();
    for known in functions {
        // This may run any code.
        if known.bind(py).eq(function)? {
            equal.push(known);
        }
    }
    // What they held may run code when it goes: nothing is borrowed then.
    let removed = take_out(&mut this.state.borrow_mut(), |callback| {
        callback.function().is_some_and(|known| equal.iter().any(|function| known.is(function)))
    });
    Ok(removed.len())
}

/// The coroutine `application` does not wait any more.
pub(in crate::asgi::raw) fn leave(object: &Bound<'_, PyAny>, application: &Bound<'_, PyAny>) {
    let left = take_out(
        &mut waiter(object).state.borrow_mut(),
        |callback| matches!(callback, Callback::Application(other) if other.is(application)),
    );
    drop(left);
}

fn take_out(state: &mut State, is_meant: impl Fn(&Callback) -> bool) -> Vec<Callback> {
    let State::Pending(who) = state else { return Vec::new() };
    let callbacks = match std::mem::replace(who, Who::Nobody) {
        Who::One(callback) => vec![callback],
        Who::Many(callbacks) => callbacks,
        other => {
            *who = other;
            return Vec::new();
        }
    };
    let (removed, mut left): (Vec<_>, Vec<_>) = callbacks.into_iter().partition(is_meant);
    *who = match (left.pop(), left.is_empty()) {
        (None, _) => Who::Nobody,
        (Some(last), true) => Who::One(last),
        (Some(last), false) => {
            left.push(last);
            Who::Many(left)
        }
    };
    removed
}

/// False if it is entered already, or is none.
fn enter_context(context: &Bound<'_, PyAny>) -> bool {
    // SAFETY: attached (`context`); the interpreter checks the type.
    let entered = unsafe { ffi::PyContext_Enter(context.as_ptr()) == 0 };
    if !entered {
        drop(PyErr::take(context.py()));
    }
    entered
}

fn exit_context(context: &Bound<'_, PyAny>) {
    // SAFETY: attached (`context`); it was entered before, and no exception is set: who called has fetched it.
    if unsafe { ffi::PyContext_Exit(context.as_ptr()) } != 0 {
        PyErr::fetch(context.py()).write_unraisable(context.py(), None);
    }
}
