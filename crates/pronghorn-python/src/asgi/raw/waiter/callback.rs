//! Who is to be called when a wait is over.

use pyo3::{exceptions::PyTypeError, ffi, intern, prelude::*, types::PyDict};

use super::{State, When, Who, waiter};

/// A function that is called with the waiter.
pub(in crate::asgi::raw) struct Callback {
    function: Py<PyAny>,
    context: Option<Py<PyAny>>,
}

impl Callback {
    pub(super) fn new(function: &Bound<'_, PyAny>, context: Option<&Bound<'_, PyAny>>) -> Self {
        Callback {
            function: function.clone().unbind(),
            context: context.map(|context| context.clone().unbind()),
        }
    }

    /// Whose method it is: the task's, if a task waits.
    pub(in crate::asgi::raw) fn owner<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        self.function.bind(py).getattr_opt(intern!(py, "__self__")).ok().flatten()
    }

    /// Runs `f` in its context; `None` if that cannot be entered.
    pub(in crate::asgi::raw) fn within<R>(
        &self,
        py: Python<'_>,
        f: impl FnOnce() -> R,
    ) -> Option<R> {
        let context = self.context.as_ref()?.bind(py);
        enter_context(context).then(|| {
            let result = f();
            exit_context(context);
            result
        })
    }

    pub(super) fn call(self, object: &Bound<'_, PyAny>, when: When) -> PyResult<()> {
        let py = object.py();
        let now = || self.within(py, || self.function.bind(py).call1((object,)).map(drop));
        match when {
            When::Now => now().unwrap_or_else(|| self.call_soon(object)),
            When::Soon => self.call_soon(object),
        }
    }

    fn call_soon(&self, object: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = object.py();
        let keywords = PyDict::new(py);
        if let Some(context) = &self.context {
            keywords.set_item(intern!(py, "context"), context)?;
        }
        let args = (&self.function, object);
        let event_loop = waiter(object).event_loop(py);
        event_loop.call_method(intern!(py, "call_soon"), args, Some(&keywords)).map(drop)
    }
}

/// Calls `callback` when `object`, a waiter, is done: in the loop's next round, if it is.
pub(super) fn add(object: &Bound<'_, PyAny>, callback: Callback) -> PyResult<()> {
    let mut state = waiter(object).state.borrow_mut();
    match &mut *state {
        State::Pending(Who::Many(callbacks)) => callbacks.push(callback),
        State::Pending(Who::Application(_) | Who::Stepping { .. }) => {
            return Err(PyTypeError::new_err("an application waits for this already"));
        }
        State::Pending(who) => {
            *who = match std::mem::replace(who, Who::Nobody) {
                Who::One(first) => Who::Many(vec![first, callback]),
                _ => Who::One(callback),
            }
        }
        State::Done | State::Cancelled(_) => {
            drop(state);
            return callback.call_soon(object);
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
    let functions: Vec<_> = match &*this.state.borrow() {
        State::Pending(Who::One(one)) => vec![one.function.clone_ref(py)],
        State::Pending(Who::Many(many)) => {
            many.iter().map(|callback| callback.function.clone_ref(py)).collect()
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
        equal.iter().any(|function| callback.function.is(function))
    });
    Ok(removed.len())
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
