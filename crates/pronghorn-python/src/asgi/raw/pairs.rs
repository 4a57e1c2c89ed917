//! Header lines of recent requests, to be used again: a line that came before costs a comparison, and no new objects.

use std::{cell::Cell, ptr};

use pyo3::{
    ffi,
    prelude::*,
    types::{PyBytes, PyTuple},
};

use crate::raw::{copied, mix, remember};

/// A direct-mapped cache of tuples of name and value.
pub(in crate::asgi) struct Pairs(Box<[Cell<*mut ffi::PyObject>]>);

// SAFETY: the slots are touched only with the interpreter's lock held, and no Python code runs between reading one and
// writing it: creating and freeing tuples of `bytes` runs none.
unsafe impl Send for Pairs {}
// SAFETY: as above.
unsafe impl Sync for Pairs {}

impl Pairs {
    /// An empty cache. What it will hold lives as long as the process.
    pub(in crate::asgi) fn new() -> Self {
        Pairs(vec![Cell::new(ptr::null_mut()); SLOTS].into_boxed_slice())
    }

    /// The tuple of `name`, which is one object for all lines of that name, and `value`.
    ///
    /// # Errors
    /// `MemoryError`.
    #[inline]
    pub(in crate::asgi) fn pair<'py>(
        &self,
        name: &Bound<'py, PyBytes>,
        value: &[u8],
    ) -> PyResult<Bound<'py, PyTuple>> {
        if value.len() > LONGEST {
            return pair(name, value);
        }
        let place = mix(value) ^ (name.as_ptr().addr() as u64).wrapping_mul(SPREAD);
        let slot = &self.0[(place >> (64 - SLOTS.trailing_zeros())) as usize];
        // SAFETY: attached (`name`); the slot holds a reference to a tuple that `pair` made, or null.
        unsafe {
            let last = slot.get();
            if !last.is_null()
                && ffi::PyTuple_GET_ITEM(last, 0) == name.as_ptr()
                && octets(ffi::PyTuple_GET_ITEM(last, 1)) == value
            {
                return Ok(Bound::from_borrowed_ptr(name.py(), last).cast_into_unchecked());
            }
        }
        remember(slot, pair(name, value)?)
    }
}

/// A new tuple.
///
/// # Errors
/// `MemoryError`.
pub(in crate::asgi) fn pair<'py>(
    name: &Bound<'py, PyBytes>,
    value: &[u8],
) -> PyResult<Bound<'py, PyTuple>> {
    PyTuple::new(name.py(), [name.clone(), copied(name.py(), value)?])
}

/// # Safety
/// `object` is a `bytes`, kept alive for `'a`.
#[inline]
unsafe fn octets<'a>(object: *mut ffi::PyObject) -> &'a [u8] {
    // SAFETY: as required; `bytes` objects do not change.
    unsafe {
        let data = ffi::PyBytes_AsString(object).cast::<u8>();
        std::slice::from_raw_parts(data, ffi::Py_SIZE(object) as usize)
    }
}

const SLOTS: usize = 512;
/// Longer values are seldom the same twice.
const LONGEST: usize = 256;
/// Objects are at addresses whose low bits are equal.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
