//! The strings of recent requests, to be used again: comparing a few bytes costs less than a new `str`, which also has to be
//! hashed and freed.

use std::{cell::Cell, ptr};

use pyo3::{ffi, prelude::*};

use super::strings::{latin1, one_byte};

/// A direct-mapped cache of `str` objects by their latin-1 bytes.
pub(crate) struct Cache {
    slots: Box<[Cell<*mut ffi::PyObject>]>,
}

// SAFETY: the slots are touched only with the interpreter's lock held, and no Python code runs between reading one and
// writing it: creating and freeing a `str` runs none.
unsafe impl Send for Cache {}
// SAFETY: as above.
unsafe impl Sync for Cache {}

impl Cache {
    /// An empty cache. What it will hold lives as long as the process.
    pub(crate) fn new() -> Self {
        Cache { slots: vec![Cell::new(ptr::null_mut()); SLOTS].into_boxed_slice() }
    }

    /// The `str` with the characters `bytes`.
    ///
    /// # Errors
    /// `MemoryError`.
    #[inline]
    pub(crate) fn text<'py>(&self, py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        if bytes.len() > LONGEST {
            return latin1(py, bytes);
        }
        let slot = &self.slots[slot_of(bytes)];
        // SAFETY: attached (`py`); the slot holds a reference or null.
        let last = unsafe { Bound::from_borrowed_ptr_or_opt(py, slot.get()) };
        match last {
            Some(last) if matches!(one_byte(&last), Ok(Some(text)) if text == bytes) => Ok(last),
            _ => remember(slot, latin1(py, bytes)?),
        }
    }
}

#[cold]
fn remember<'py>(
    slot: &Cell<*mut ffi::PyObject>,
    text: Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let last = slot.replace(text.clone().into_ptr());
    // SAFETY: attached (`text`); the slot owned the reference, if it had one.
    unsafe { ffi::Py_XDECREF(last) };
    Ok(text)
}

/// A mix of the length and of the first and last eight bytes.
#[inline]
fn slot_of(bytes: &[u8]) -> usize {
    let (first, last) = match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
        _ => (bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)), 0),
    };
    let mix = (first ^ last.rotate_left(29)).wrapping_add(bytes.len() as u64);
    (mix.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - SLOTS.trailing_zeros())) as usize
}

const SLOTS: usize = 256;
/// Longer values are seldom the same twice.
const LONGEST: usize = 256;
