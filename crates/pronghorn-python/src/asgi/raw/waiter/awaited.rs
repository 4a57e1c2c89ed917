//! A waiter that is awaited by code of an application, as a future can be.

use std::{cell::Cell, ffi::CStr};

use pyo3::{
    exceptions::{PyAttributeError, PyRuntimeError},
    prelude::*,
};

use super::{
    super::steps::{Step, Steps},
    waiter,
};

/// What `await` steps through: it yields the waiter once, and gives its result.
pub(in crate::asgi::raw) struct Awaited {
    waiter: Py<PyAny>,
    has_yielded: Cell<bool>,
}

impl Awaited {
    pub(super) fn new(waiter: &Bound<'_, PyAny>) -> Self {
        Awaited { waiter: waiter.clone().unbind(), has_yielded: Cell::new(false) }
    }
}

impl Steps for Awaited {
    const ATTRIBUTES: &'static [&'static CStr] = &[];

    fn step<'py>(
        &self,
        _this: &Bound<'py, PyAny>,
        value: &Bound<'py, PyAny>,
    ) -> PyResult<Step<'py>> {
        let py = value.py();
        let object = self.waiter.bind(py);
        if waiter(object).is_done() {
            return waiter(object).result(py).map(Step::Return);
        }
        if self.has_yielded.replace(true) {
            return Err(PyRuntimeError::new_err("await wasn't used with future"));
        }
        waiter(object).is_blocking.set(true);
        Ok(Step::Yield(object.clone()))
    }

    fn attribute<'py>(&self, _py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        Err(PyAttributeError::new_err(name.to_owned()))
    }
}
