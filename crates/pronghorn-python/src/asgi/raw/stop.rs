//! The end of an `await` with a result, as `tp_iternext` tells of it: by a `StopIteration`.
//!
//! The interpreter takes the result out of the exception and drops that. Making one costs more than all else that an `await` does with a
//! message, so that one is used again and again as long as nobody else has got hold of it.

use std::{cell::Cell, ptr};

use pyo3::{ffi, intern, prelude::*};

thread_local! {
    /// Null, or a `StopIteration` that is kept alive from here.
    static KEPT: Cell<*mut ffi::PyObject> = const { Cell::new(ptr::null_mut()) };
    static IS_KEEPING: Cell<bool> = const { Cell::new(false) };
}

/// As long as there is one of these, the exception is kept.
pub(in crate::asgi) struct Keeping<'py> {
    py: Python<'py>,
    before: bool,
}

impl<'py> Keeping<'py> {
    pub(in crate::asgi) fn new(py: Python<'py>) -> Self {
        Keeping { py, before: IS_KEEPING.replace(true) }
    }
}

impl Drop for Keeping<'_> {
    fn drop(&mut self) {
        IS_KEEPING.set(self.before);
        forget_result(self.py);
    }
}

/// Raises `StopIteration` with `result`, or `MemoryError`.
pub(super) fn stop_with(result: &Bound<'_, PyAny>) {
    let py = result.py();
    let value = intern!(py, "value").as_ptr();
    // SAFETY: attached (`py`). The exception is an object that we have a reference to.
    unsafe {
        if !IS_KEEPING.get() {
            return ffi::PyErr_SetObject(ffi::PyExc_StopIteration, result.as_ptr());
        }
        let exception = idle_exception(py);
        if !exception.is_null() && ffi::PyObject_SetAttr(exception, value, result.as_ptr()) == 0 {
            ffi::PyErr_SetObject(ffi::PyExc_StopIteration, exception);
        }
    }
}

/// Lets go of the last result, and of an exception that refers to more than that.
fn forget_result(py: Python<'_>) {
    let kept = KEPT.get();
    if kept.is_null() {
        return;
    }
    // SAFETY: attached (`py`), and `kept` is an object that we have a reference to. Setting an attribute of it to `None` raises nothing.
    unsafe {
        if ffi::Py_REFCNT(kept) == 1 && is_as_new(kept) {
            ffi::PyObject_SetAttr(kept, intern!(py, "value").as_ptr(), ffi::Py_None());
        } else {
            KEPT.set(ptr::null_mut());
            ffi::Py_DECREF(kept);
        }
    }
}

/// A `StopIteration` that nobody else has; null after an error, which is set.
fn idle_exception(_py: Python<'_>) -> *mut ffi::PyObject {
    let kept = KEPT.get();
    // SAFETY: attached (`_py`); `kept` is null or an object that we have a reference to.
    unsafe {
        if !kept.is_null() && ffi::Py_REFCNT(kept) == 1 && is_as_new(kept) {
            return kept;
        }
        let made = ffi::PyObject_CallNoArgs(ffi::PyExc_StopIteration);
        if !made.is_null() {
            KEPT.set(made);
            ffi::Py_XDECREF(kept);
        }
        made
    }
}

/// Whether it has never left the place it was raised in, nor was raised while another was handled.
///
/// # Safety
/// Attached; `exception` is an exception.
unsafe fn is_as_new(exception: *mut ffi::PyObject) -> bool {
    // SAFETY: as required. What is given is null or a new reference, which is given back.
    unsafe {
        let context = ffi::PyException_GetContext(exception);
        let traceback = ffi::PyException_GetTraceback(exception);
        ffi::Py_XDECREF(context);
        ffi::Py_XDECREF(traceback);
        context.is_null() && traceback.is_null()
    }
}
