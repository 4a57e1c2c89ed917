//! What `receive()` and `send()` give to be awaited.

use std::{cell::RefCell, ffi::CStr, rc::Rc};

use pyo3::{
    exceptions::{PyAttributeError, PyRuntimeError},
    prelude::*,
    types::PyString,
};

use super::{
    call::{Call, Operation, Outcome},
    steps::{Step, Steps, Thrown},
};

/// It has nothing to wait for, whoever awaits it and how often.
pub(super) struct Done;

impl Steps for Done {
    const ATTRIBUTES: &'static [&'static CStr] = NAMES;

    fn step<'py>(
        &self,
        _this: &Bound<'py, PyAny>,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<Step<'py>> {
        Ok(Step::Return(value.py().None().into_bound(value.py())))
    }

    fn attribute<'py>(&self, py: Python<'py>, _name: &str) -> PyResult<Bound<'py, PyAny>> {
        Ok(PyString::new(py, Operation::Send.name()).into_any())
    }
}

/// An operation that is tried when it is first awaited, and again each time what it waits for may have come.
pub(super) struct Wait {
    operation: Operation,
    /// `None` when it has come to its end.
    call: RefCell<Option<Rc<Call>>>,
    /// What the task waits for.
    future: RefCell<Option<Py<PyAny>>>,
}

impl Wait {
    pub(super) fn new(call: Rc<Call>, operation: Operation) -> Self {
        Wait { operation, call: RefCell::new(Some(call)), future: RefCell::new(None) }
    }

    fn attempt<'py>(&self, py: Python<'py>, call: &Call) -> PyResult<Step<'py>> {
        call.check_thread(py)?;
        let outcome = match self.operation {
            Operation::Receive => call.receive(py)?,
            Operation::Send if call.has_room(py)? => Outcome::Ready(py.None().into_bound(py)),
            Operation::Send => Outcome::Pending,
        };
        match outcome {
            Outcome::Ready(result) => Ok(Step::Return(result)),
            Outcome::Pending => {
                let future = call.wait(py, self.operation)?;
                self.future.replace(Some(future.clone().unbind()));
                Ok(Step::Yield(future))
            }
        }
    }

    /// Takes it to its end. Gives the call if it waited.
    fn finish(&self) -> Option<Rc<Call>> {
        let (call, future) = (self.call.take()?, self.future.take()?);
        call.forget(&future);
        Some(call)
    }

    /// It was cancelled, perhaps.
    fn give_up(&self, py: Python<'_>) {
        if let (Some(call), Operation::Receive) = (self.finish(), self.operation) {
            call.gives_up_receiving(py);
        }
    }
}

impl Steps for Wait {
    const ATTRIBUTES: &'static [&'static CStr] = NAMES;

    fn step<'py>(
        &self,
        _this: &Bound<'py, PyAny>,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<Step<'py>> {
        let call = self.call.borrow().clone().ok_or_else(|| reused(self.operation))?;
        if let Some(future) = self.future.take() {
            call.forget(&future);
        }
        let step = self.attempt(value.py(), &call);
        if !matches!(step, Ok(Step::Yield(_))) {
            self.finish();
            if self.operation == Operation::Receive {
                call.has_received(value.py())?;
            }
        }
        step
    }

    fn throw<'py>(
        &self,
        _this: &Bound<'py, PyAny>,
        thrown: Thrown<'_, 'py>,
    ) -> PyResult<Step<'py>> {
        self.give_up(thrown.py());
        Err(thrown.error()?)
    }

    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.give_up(py);
        Ok(())
    }

    fn attribute<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        match name {
            "__name__" | "__qualname__" => Ok(PyString::new(py, self.operation.name()).into_any()),
            _ => Err(PyAttributeError::new_err(name.to_owned())),
        }
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        if self.future.get_mut().is_some() {
            Python::attach(|_| drop(self.finish()));
        }
    }
}

#[cold]
fn reused(operation: Operation) -> PyErr {
    let name = operation.name();
    PyRuntimeError::new_err(format!("what {name}() gave was awaited before: call it again"))
}

const NAMES: &[&CStr] = &[c"__name__", c"__qualname__"];
