//! The coroutine that a task runs: the application's, and who is to hear of its end.

use std::{cell::RefCell, ffi::CStr, rc::Rc, sync::Arc};

use pronghorn_engine::Summary;
use pyo3::{
    exceptions::{PyRuntimeError, PyTypeError, asyncio::CancelledError},
    ffi, intern,
    prelude::*,
    types::PyTuple,
};

use super::{
    call::{Call, Ended},
    direct::Direct,
    steps::{self, Step, Steps, Thrown},
};

/// The application's coroutine, step by step. Its end is told to the call, so that the task needs no callback, and it raises nothing
/// that the task would report once more, or that would end the loop.
pub(super) struct Driven {
    /// What the application returned. The task's repr and its stack are made of its attributes.
    awaitable: Py<PyAny>,
    /// What takes the steps of it: itself, if it is a coroutine.
    steps: Py<PyAny>,
    /// `None` after the end.
    call: RefCell<Option<Rc<Call>>>,
    pub(super) direct: Direct,
}

impl Driven {
    /// # Errors
    /// `TypeError` when `awaitable` cannot be awaited.
    pub(super) fn new(call: Rc<Call>, awaitable: Bound<'_, PyAny>) -> PyResult<Self> {
        let py = awaitable.py();
        // SAFETY: attached (`awaitable`).
        let is_coroutine = unsafe { ffi::PyCoro_CheckExact(awaitable.as_ptr()) != 0 };
        let steps = match is_coroutine {
            true => awaitable.clone(),
            false => match awaitable.getattr_opt(intern!(py, "__await__"))? {
                Some(method) => method.call0()?,
                None => return Err(not_awaitable(&awaitable)),
            },
        };
        Ok(Driven {
            awaitable: awaitable.unbind(),
            steps: steps.unbind(),
            call: RefCell::new(Some(call)),
            direct: Direct::default(),
        })
    }

    /// The request, unless the application has ended. Any thread that has the interpreter may ask.
    pub(super) fn request(&self) -> Option<Arc<Summary>> {
        let call = self.call.try_borrow().ok()?;
        call.as_ref().map(|call| call.summary().clone())
    }

    /// The call, unless the application has ended.
    pub(super) fn call(&self) -> Option<Rc<Call>> {
        self.call.borrow().clone()
    }

    /// Takes a step of the application: what its task is to see of it.
    pub(super) fn take_step<'py>(&self, value: &Bound<'py, PyAny>) -> PyResult<Step<'py>> {
        self.after(value.py(), steps::send(self.steps.bind(value.py()), value))
    }

    /// The same with an exception.
    pub(super) fn take_step_with<'py>(&self, py: Python<'py>, error: PyErr) -> PyResult<Step<'py>> {
        let args = PyTuple::new(py, [error.value(py)])?;
        self.after(py, steps::throw(self.steps.bind(py), &args, || Ok(error)))
    }

    fn after<'py>(&self, py: Python<'py>, step: PyResult<Step<'py>>) -> PyResult<Step<'py>> {
        let none = || Step::Return(py.None().into_bound(py));
        match step {
            Ok(Step::Yield(future)) => Ok(Step::Yield(future)),
            Ok(Step::Return(_)) => {
                self.end(py, Ended::Returned);
                Ok(none())
            }
            Err(error) => {
                self.end(py, Ended::Raised(&error));
                match error.is_instance_of::<CancelledError>(py) {
                    // Whoever asks the task is to know that it was cancelled.
                    true => Err(error),
                    false => Ok(none()),
                }
            }
        }
    }

    fn end(&self, py: Python<'_>, how: Ended<'_>) {
        if let Some(call) = self.call.take() {
            call.end(py, how);
        }
    }
}

impl Steps for Driven {
    const ATTRIBUTES: &'static [&'static CStr] = &[
        c"__name__",
        c"__qualname__",
        c"cr_await",
        c"cr_code",
        c"cr_frame",
        c"cr_origin",
        c"cr_running",
        c"cr_suspended",
    ];

    fn step<'py>(
        &self,
        this: &Bound<'py, PyAny>,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<Step<'py>> {
        if let Some(kept) = self.direct.task_goes_on(this, None)? {
            return self.see(this, kept, None);
        }
        if self.call.borrow().is_none() {
            return Err(PyRuntimeError::new_err("the application has come to its end before"));
        }
        let step = self.take_step(value);
        self.wait_directly(this, step)
    }

    fn throw<'py>(&self, this: &Bound<'py, PyAny>, thrown: Thrown<'_, 'py>) -> PyResult<Step<'py>> {
        let py = thrown.py();
        let error = thrown.error()?;
        if let Some(kept) = self.direct.task_goes_on(this, Some(&error))? {
            return self.see(this, kept, Some(error));
        }
        if self.call.borrow().is_none() {
            return Err(error);
        }
        let step = self.after(py, thrown.pass_on(self.steps.bind(py)));
        self.wait_directly(this, step)
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.direct.forget();
        let close = self.steps.bind(py).getattr_opt(intern!(py, "close"))?;
        let closed = close.map_or(Ok(()), |close| close.call0().map(drop));
        self.end(py, closed.as_ref().err().map_or(Ended::Closed, Ended::Raised));
        closed
    }

    fn attribute<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        self.awaitable.bind(py).getattr(name)
    }
}

impl Drop for Driven {
    fn drop(&mut self) {
        if self.call.get_mut().is_some() {
            Python::attach(|py| {
                // Whoever drops it may have an exception on its way.
                let error = PyErr::take(py);
                self.end(py, Ended::Closed);
                if let Some(error) = error {
                    error.restore(py);
                }
            });
        }
    }
}

#[cold]
fn not_awaitable(object: &Bound<'_, PyAny>) -> PyErr {
    let name = object.get_type().name();
    let name = name.map_or_else(|_| "an object".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!(
        "the application returned {name}, which cannot be awaited: an ASGI application is async def app(scope, receive, send)"
    ))
}
