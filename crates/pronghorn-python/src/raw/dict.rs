//! Dicts whose keys are interned.

use pyo3::{ffi, prelude::*, types::PyDict};

use crate::interned::Text;

/// Sets `key` to `value`.
///
/// # Errors
/// `MemoryError`.
#[inline]
pub(crate) fn set<T>(dict: &Bound<'_, PyDict>, key: &Text, value: &Bound<'_, T>) -> PyResult<()> {
    // SAFETY: attached (`dict`); all three are live objects, and the dict takes references of its own.
    match unsafe { ffi::PyDict_SetItem(dict.as_ptr(), key.as_ptr(), value.as_ptr()) } {
        0 => Ok(()),
        _ => Err(PyErr::fetch(dict.py())),
    }
}
