//! The way from the interpreter into Rust: errors become the interpreter's, and a panic ends here.

use std::{
    panic::{self, AssertUnwindSafe},
    ptr,
};

use pyo3::{exceptions::PyRuntimeError, ffi, prelude::*};

/// Runs `f` and gives the interpreter the object, or null and the error.
///
/// # Safety
/// Attached.
#[inline]
pub(crate) unsafe fn enter<'py>(
    f: impl FnOnce(Python<'py>) -> PyResult<Bound<'py, PyAny>>,
) -> *mut ffi::PyObject {
    // SAFETY: attached, as required.
    let py = unsafe { Python::assume_attached() };
    match guarded(|| f(py)) {
        Ok(object) => object.into_ptr(),
        Err(error) => raise(error),
    }
}

/// What `f` gives; a panic is an error.
#[inline]
pub(crate) fn guarded<R>(f: impl FnOnce() -> PyResult<R>) -> PyResult<R> {
    panic::catch_unwind(AssertUnwindSafe(f)).unwrap_or_else(|_| Err(panicked()))
}

/// Leaves `error` to the interpreter, which null tells of it. The thread must be attached.
#[cold]
pub(crate) fn raise(error: PyErr) -> *mut ffi::PyObject {
    Python::attach(|py| error.restore(py));
    ptr::null_mut()
}

#[cold]
fn panicked() -> PyErr {
    PyRuntimeError::new_err("the server failed; its log has the panic")
}
