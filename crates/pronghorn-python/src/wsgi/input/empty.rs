//! The input of every request without a body: one object, as it has no state.

use pyo3::{
    prelude::*,
    types::{PyBytes, PyList},
};

/// An input with nothing in it.
#[pyclass(name = "empty_input", module = "pronghorn", frozen)]
pub(in super::super) struct EmptyInput;

#[pymethods]
impl EmptyInput {
    #[pyo3(signature = (_size = None, /))]
    fn read<'py>(&self, py: Python<'py>, _size: Option<isize>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, b"")
    }

    #[pyo3(signature = (_size = None, /))]
    fn readline<'py>(&self, py: Python<'py>, _size: Option<isize>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, b"")
    }

    #[pyo3(signature = (_hint = None, /))]
    fn readlines<'py>(&self, py: Python<'py>, _hint: Option<isize>) -> Bound<'py, PyList> {
        PyList::empty(py)
    }

    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__(&self) -> Option<Py<PyAny>> {
        None
    }
}
