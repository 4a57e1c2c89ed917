//! `bytes` objects: filled by the engine before Python sees them, and read without a copy when they are sent.

use std::{any::Any, ffi::c_int, mem::MaybeUninit, slice};

use pronghorn_engine::{BodyBuffer, Retained};
use pyo3::{
    ffi,
    prelude::*,
    types::{PyBytes, PyMemoryView, PyString},
};

use crate::attach::Object;

unsafe extern "C" {
    /// `bytesobject.h`; pyo3-ffi leaves it out.
    fn _PyBytes_Resize(bytes: *mut *mut ffi::PyObject, size: ffi::Py_ssize_t) -> c_int;
}

/// A `bytes` object in the making: a request body is received straight into it.
pub(crate) struct BytesBuffer {
    object: Object,
    filled: usize,
    length: usize,
}

impl BytesBuffer {
    /// Memory for `length` bytes; `None` when there is none.
    pub(crate) fn new(py: Python<'_>, length: usize) -> Option<Self> {
        let size = ffi::Py_ssize_t::try_from(length).ok()?;
        // SAFETY: attached (`py`). Without a source the contents are left uninitialised; nothing reads them before
        // `filled` says that they are there.
        let object = unsafe {
            let object = ffi::PyBytes_FromStringAndSize(std::ptr::null(), size);
            if object.is_null() {
                ffi::PyErr_Clear();
                return None;
            }
            Bound::from_owned_ptr(py, object)
        };
        Some(BytesBuffer { object: Object::new(object), filled: 0, length })
    }

    /// What is filled, as an object of its own.
    ///
    /// # Errors
    /// `MemoryError`.
    pub(crate) fn part(self, py: Python<'_>) -> PyResult<Bound<'_, PyBytes>> {
        let (filled, length) = (self.filled, self.length);
        let mut object = self.object.into_bound(py).into_ptr();
        if filled < length {
            // SAFETY: attached (`py`), and nobody else refers to the object yet. On failure the call has dropped it and left null.
            unsafe { _PyBytes_Resize(&mut object, filled as ffi::Py_ssize_t) };
        }
        // SAFETY: attached; the reference is ours, and null only after an error.
        unsafe { Ok(Bound::from_owned_ptr_or_err(py, object)?.cast_into_unchecked()) }
    }

    /// The finished object; `None` while it is not filled whole.
    pub(crate) fn into_bytes(self, py: Python<'_>) -> Option<Bound<'_, PyBytes>> {
        if self.filled != self.length {
            return None;
        }
        self.object.into_bound(py).cast_into::<PyBytes>().ok()
    }
}

impl BodyBuffer for BytesBuffer {
    fn spare(&mut self) -> &mut [MaybeUninit<u8>] {
        // SAFETY: the object owns `length` bytes and this buffer is its only holder, so nothing else reads or writes them;
        // reading the address of a `bytes` object's data needs no interpreter lock.
        unsafe {
            let data = ffi::PyBytes_AsString(self.object.as_ptr()).cast::<MaybeUninit<u8>>();
            slice::from_raw_parts_mut(data.add(self.filled), self.length - self.filled)
        }
    }

    unsafe fn advance(&mut self, n: usize) {
        self.filled += n;
        debug_assert!(self.filled <= self.length);
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// A `bytes` object with the same contents.
///
/// # Errors
/// `MemoryError`.
pub(crate) fn copied<'py>(py: Python<'py>, contents: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let size = contents.len() as ffi::Py_ssize_t;
    // SAFETY: attached (`py`); the source has `size` bytes.
    unsafe {
        let object = ffi::PyBytes_FromStringAndSize(contents.as_ptr().cast(), size);
        Ok(Bound::from_owned_ptr_or_err(py, object)?.cast_into_unchecked())
    }
}

/// A `bytes` object with the contents of one that is like it; `None` if it is not.
///
/// # Errors
/// `MemoryError`; what the object raises.
pub(crate) fn copied_from<'py>(
    object: &Bound<'py, PyAny>,
) -> PyResult<Option<Bound<'py, PyBytes>>> {
    let Ok(view) = PyMemoryView::from(object) else { return Ok(None) };
    Ok(Some(view.call_method0("tobytes")?.cast_into::<PyBytes>()?))
}

/// A `bytes` object that the engine keeps until its last byte is on the wire.
pub(crate) struct Kept(Object);

impl Kept {
    /// Holds another reference to `bytes`.
    pub(crate) fn new(bytes: &Bound<'_, PyBytes>) -> Self {
        Kept(Object::new(bytes.clone()))
    }
}

/// A copy of the UTF-8 of a `str`, for as long as it waits to be sent.
pub(crate) fn kept_text(text: &Bound<'_, PyString>) -> Retained {
    Box::new(text.to_str().unwrap_or_default().as_bytes().to_vec())
}

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        let object = self.0.as_ptr();
        // SAFETY: `bytes` objects do not change and this one is kept alive by `self`; no interpreter lock is needed to read.
        unsafe {
            let data = ffi::PyBytes_AsString(object).cast::<u8>();
            slice::from_raw_parts(data, ffi::Py_SIZE(object) as usize)
        }
    }
}
