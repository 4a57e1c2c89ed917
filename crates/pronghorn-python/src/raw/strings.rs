//! Bytes to `str` and back without a codec: environ strings are latin-1, one byte a character (PEP 3333, "Unicode Issues").

use std::{ptr, slice};

use pyo3::{ffi, prelude::*};

/// A new `str` with one character for each byte.
///
/// # Errors
/// `MemoryError`.
#[inline]
pub(crate) fn latin1<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
    let most = if bytes.is_ascii() { 0x7f } else { 0xff };
    // SAFETY: attached (`py`). A new `str` of `len` characters up to `most` is compact with one byte each; it is filled whole
    // before anything else sees it. The empty one is shared, and nothing is written to it.
    unsafe {
        let object = ffi::PyUnicode_New(bytes.len() as ffi::Py_ssize_t, most);
        if object.is_null() {
            return Err(PyErr::fetch(py));
        }
        ptr::copy_nonoverlapping(bytes.as_ptr(), ffi::PyUnicode_DATA(object).cast(), bytes.len());
        Ok(Bound::from_owned_ptr(py, object))
    }
}

/// The characters of a `str` as bytes, when every one is in latin-1: its own memory, nothing is copied.
///
/// `None` for a `str` with wider characters. `object` must be a `str`, or `Err` gives it back.
#[inline]
pub(crate) fn one_byte<'a>(object: &'a Bound<'_, PyAny>) -> Result<Option<&'a [u8]>, NotStr> {
    let pointer = object.as_ptr();
    // SAFETY: attached (`object`). Kind and data are read after the check that it is a `str`, and after it was made ready (before
    // CPython 3.12 some are not); the memory of a `str` does not change and lives as long as `object`.
    unsafe {
        if ffi::PyUnicode_Check(pointer) == 0 || ffi::PyUnicode_READY(pointer) != 0 {
            return Err(NotStr);
        }
        if ffi::PyUnicode_KIND(pointer) != ffi::PyUnicode_1BYTE_KIND {
            return Ok(None);
        }
        let length = ffi::PyUnicode_GET_LENGTH(pointer) as usize;
        Ok(Some(slice::from_raw_parts(ffi::PyUnicode_DATA(pointer).cast(), length)))
    }
}

/// The object is no `str`.
#[derive(Debug)]
pub(crate) struct NotStr;
