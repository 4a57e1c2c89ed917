//! The `headers` of a scope in the making.

use pyo3::{
    ffi,
    prelude::*,
    types::{PyList, PyTuple},
};

/// A list that is filled in place.
pub(in crate::asgi) struct HeaderList<'py> {
    list: Bound<'py, PyList>,
    most: usize,
    used: usize,
}

impl<'py> HeaderList<'py> {
    /// A list with room for `most` headers.
    ///
    /// # Errors
    /// `MemoryError`.
    pub(in crate::asgi) fn new(py: Python<'py>, most: usize) -> PyResult<Self> {
        // SAFETY: attached (`py`). The items are null until they are set, which only `finish` shows to others.
        let list = unsafe {
            let list = ffi::PyList_New(most as ffi::Py_ssize_t);
            Bound::from_owned_ptr_or_err(py, list)?.cast_into_unchecked()
        };
        Ok(HeaderList { list, most, used: 0 })
    }

    /// Appends `header`. There must be room.
    #[inline]
    pub(in crate::asgi) fn push(&mut self, header: Bound<'py, PyTuple>) {
        assert!(self.used < self.most, "no room for a header");
        let (list, place) = (self.list.as_ptr(), self.used as ffi::Py_ssize_t);
        // SAFETY: attached (`list`), the place is in the list and null still, and the list takes the reference.
        unsafe { ffi::PyList_SET_ITEM(list, place, header.into_ptr()) };
        self.used += 1;
    }

    /// The list.
    ///
    /// # Errors
    /// `MemoryError`.
    pub(in crate::asgi) fn finish(self) -> PyResult<Bound<'py, PyList>> {
        if self.used < self.most {
            self.list.del_slice(self.used, self.most)?;
        }
        Ok(self.list)
    }
}
