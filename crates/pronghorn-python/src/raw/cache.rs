//! The strings of recent requests, to be used again: comparing a few bytes costs less than a new object, which also has to be
//! hashed and freed.

use std::{cell::Cell, marker::PhantomData, ptr};

use pyo3::{ffi, prelude::*, types::PyBytes};

use super::{
    bytes::copied,
    strings::{latin1, one_byte},
};

/// A direct-mapped cache of objects of one kind by their bytes.
pub(crate) struct Cache<K> {
    slots: Box<[Cell<*mut ffi::PyObject>]>,
    kind: PhantomData<fn(K)>,
}

/// What a cache holds: objects that do not change, and whose end runs no Python code.
pub(crate) trait Kind {
    /// A new object of `bytes`.
    ///
    /// # Errors
    /// `MemoryError`.
    fn make<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>>;

    /// Whether `object`, one of this kind, is of `bytes`.
    fn is(object: &Bound<'_, PyAny>, bytes: &[u8]) -> bool;
}

/// `str` objects, one character for each byte.
pub(crate) enum Latin1 {}

impl Kind for Latin1 {
    #[inline]
    fn make<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        latin1(py, bytes)
    }

    #[inline]
    fn is(object: &Bound<'_, PyAny>, bytes: &[u8]) -> bool {
        matches!(one_byte(object), Ok(Some(text)) if text == bytes)
    }
}

/// `bytes` objects.
pub(crate) enum Octets {}

impl Kind for Octets {
    #[inline]
    fn make<'py>(py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        Ok(copied(py, bytes)?.into_any())
    }

    #[inline]
    fn is(object: &Bound<'_, PyAny>, bytes: &[u8]) -> bool {
        object.cast::<PyBytes>().is_ok_and(|object| object.as_bytes() == bytes)
    }
}

// SAFETY: the slots are touched only with the interpreter's lock held, and no Python code runs between reading one and
// writing it: creating and freeing what is in them runs none.
unsafe impl<K> Send for Cache<K> {}
// SAFETY: as above.
unsafe impl<K> Sync for Cache<K> {}

impl Cache<Latin1> {
    /// The `str` with the characters `bytes`.
    ///
    /// # Errors
    /// `MemoryError`.
    #[inline]
    pub(crate) fn text<'py>(&self, py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        self.object(py, bytes)
    }
}

impl<K: Kind> Cache<K> {
    /// An empty cache. What it will hold lives as long as the process.
    pub(crate) fn new() -> Self {
        let slots = vec![Cell::new(ptr::null_mut()); SLOTS].into_boxed_slice();
        Cache { slots, kind: PhantomData }
    }

    /// The object of `bytes`.
    ///
    /// # Errors
    /// `MemoryError`.
    #[inline]
    pub(crate) fn object<'py>(&self, py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        if bytes.len() > LONGEST {
            return K::make(py, bytes);
        }
        let slot = &self.slots[(mix(bytes) >> (64 - SLOTS.trailing_zeros())) as usize];
        // SAFETY: attached (`py`); the slot holds a reference or null.
        let last = unsafe { Bound::from_borrowed_ptr_or_opt(py, slot.get()) };
        match last {
            Some(last) if K::is(&last, bytes) => Ok(last),
            _ => remember(slot, K::make(py, bytes)?),
        }
    }
}

/// Puts a reference to `object` into a slot that owns what it holds, and gives it back.
#[cold]
pub(crate) fn remember<'py, T>(
    slot: &Cell<*mut ffi::PyObject>,
    object: Bound<'py, T>,
) -> PyResult<Bound<'py, T>> {
    let last = slot.replace(object.clone().into_ptr());
    // SAFETY: attached (`object`); the slot owned the reference, if it had one.
    unsafe { ffi::Py_XDECREF(last) };
    Ok(object)
}

/// A mix of the length and of the first and last eight bytes, the best of it in the high bits.
#[inline]
pub(crate) fn mix(bytes: &[u8]) -> u64 {
    let (first, last) = match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(first), Some(last)) => (u64::from_le_bytes(*first), u64::from_le_bytes(*last)),
        _ => (bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte)), 0),
    };
    let mix = (first ^ last.rotate_left(29)).wrapping_add(bytes.len() as u64);
    mix.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

const SLOTS: usize = 256;
/// Longer values are seldom the same twice.
const LONGEST: usize = 256;
