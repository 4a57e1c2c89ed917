//! The arguments of a call as vectorcall (PEP 590) passes them: an array, the keywords' values last.

use std::slice;

use pyo3::{
    exceptions::PyTypeError,
    ffi,
    prelude::*,
    types::{PyString, PyTuple},
};

/// The arguments of one call.
pub(crate) struct Arguments<'a, 'py> {
    py: Python<'py>,
    values: &'a [*mut ffi::PyObject],
    positional: usize,
    /// The keywords' names; null when there are none.
    names: *mut ffi::PyObject,
}

impl<'a, 'py> Arguments<'a, 'py> {
    /// # Safety
    /// The last three are what the interpreter passed to a vectorcall function, which outlives `'a`.
    #[inline]
    pub(crate) unsafe fn new(
        py: Python<'py>,
        args: *const *mut ffi::PyObject,
        nargsf: usize,
        names: *mut ffi::PyObject,
    ) -> Self {
        // SAFETY: as required of the caller: `args` has the positional values and one for each name.
        unsafe {
            let positional = ffi::PyVectorcall_NARGS(nargsf) as usize;
            let named = if names.is_null() { 0 } else { ffi::Py_SIZE(names) as usize };
            let count = positional + named;
            let values = if count == 0 { &[] } else { slice::from_raw_parts(args, count) };
            Arguments { py, values, positional, names }
        }
    }

    /// The arguments in the order of `parameters`; `None` for one that was not given.
    ///
    /// # Errors
    /// `TypeError` as Python's own functions raise it.
    #[inline]
    pub(crate) fn bind<const N: usize>(
        &self,
        function: &str,
        parameters: [&str; N],
    ) -> PyResult<[Option<&'a Bound<'py, PyAny>>; N]> {
        let mut bound = [None; N];
        if self.positional > N {
            return Err(too_many(function, N, self.positional));
        }
        for (place, value) in bound.iter_mut().zip(&self.values[..self.positional]) {
            *place = Some(self.borrow(value));
        }
        if !self.names.is_null() {
            self.bind_named(function, parameters, &mut bound)?;
        }
        Ok(bound)
    }

    fn bind_named<const N: usize>(
        &self,
        function: &str,
        parameters: [&str; N],
        bound: &mut [Option<&'a Bound<'py, PyAny>>; N],
    ) -> PyResult<()> {
        // SAFETY: attached, and `names` is a tuple of `str` (PEP 590) that the caller holds.
        let names = unsafe { Bound::from_borrowed_ptr(self.py, self.names) };
        for (name, value) in names.cast::<PyTuple>()?.iter().zip(&self.values[self.positional..]) {
            let name = name.cast::<PyString>()?.to_cow()?;
            let place = parameters.iter().position(|parameter| *parameter == name);
            let free = place.filter(|&place| bound[place].is_none());
            bound[free.ok_or_else(|| unexpected(function, &name))?] = Some(self.borrow(value));
        }
        Ok(())
    }

    fn borrow(&self, value: &'a *mut ffi::PyObject) -> &'a Bound<'py, PyAny> {
        // SAFETY: attached (`py`); the caller of the function holds a reference to each argument.
        unsafe { Bound::ref_from_ptr(self.py, value) }
    }
}

/// The error for a required argument that was not given.
#[cold]
pub(crate) fn missing(function: &str, parameter: &str) -> PyErr {
    PyTypeError::new_err(format!("{function}() missing required argument '{parameter}'"))
}

#[cold]
fn too_many(function: &str, most: usize, given: usize) -> PyErr {
    PyTypeError::new_err(format!(
        "{function}() takes at most {most} positional arguments ({given} given)"
    ))
}

#[cold]
fn unexpected(function: &str, name: &str) -> PyErr {
    PyTypeError::new_err(format!("{function}() got an unexpected keyword argument '{name}'"))
}
