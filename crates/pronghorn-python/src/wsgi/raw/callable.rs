//! `start_response` and `write` as Python sees them: two callables that take their arguments from the caller's stack, and that
//! serve the next request too when the application did not keep them.

use std::{
    ffi::CStr,
    ptr,
    sync::atomic::{AtomicPtr, Ordering},
};

use pyo3::{ffi, prelude::*};

use super::link::Link;
use crate::{
    raw::{Arguments, Callable, Class, Instance, enter, missing},
    wsgi::{call::Call, head},
};

/// The types of `start_response` and `write`.
pub(crate) struct Callables {
    start_response: Kind,
    write: Kind,
}

impl Callables {
    /// Makes the types.
    ///
    /// # Errors
    /// `MemoryError`.
    pub(crate) fn new(py: Python<'_>) -> PyResult<Self> {
        Ok(Callables {
            start_response: Kind::new(py, c"pronghorn.start_response", start_response)?,
            write: Kind::new(py, c"pronghorn.write", write)?,
        })
    }

    /// A pair for one request.
    ///
    /// # Errors
    /// `MemoryError`.
    pub(crate) fn lend<'a, 'py>(&'a self, py: Python<'py>) -> PyResult<Pair<'a, 'py>> {
        Ok(Pair {
            start_response: Lent::new(py, &self.start_response)?,
            write: Lent::new(py, &self.write)?,
        })
    }
}

/// `start_response` and `write` of one request.
pub(crate) struct Pair<'a, 'py> {
    start_response: Lent<'a, 'py>,
    write: Lent<'a, 'py>,
}

impl<'py> Pair<'_, 'py> {
    /// The `write` of this pair.
    pub(crate) fn write(&self) -> &Bound<'py, PyAny> {
        &self.write.object
    }

    /// Runs `f` with a `start_response` that leads to `call`, as do `write` and `input` while `f` runs.
    pub(crate) fn connect<R>(
        &self,
        call: &Call<'py, '_, '_>,
        input: Option<&Link>,
        f: impl FnOnce(&Bound<'py, PyAny>) -> R,
    ) -> R {
        let py = self.write.object.py();
        let open = Open([Some(self.start_response.link()), Some(self.write.link()), input]);
        for link in open.0.into_iter().flatten() {
            // SAFETY: `open` closes the link when this function is left, by a panic too, and `call` is borrowed until then.
            unsafe { link.open(py, call) };
        }
        f(&self.start_response.object)
    }
}

/// Links that are closed when this is dropped.
struct Open<'a>([Option<&'a Link>; 3]);

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.into_iter().flatten().for_each(Link::close);
    }
}

/// One type, and an instance of it that waits for the next request.
struct Kind {
    class: Class<Callable<Link>>,
    spare: AtomicPtr<ffi::PyObject>,
    entry: ffi::vectorcallfunc,
}

impl Kind {
    fn new(py: Python<'_>, name: &'static CStr, entry: ffi::vectorcallfunc) -> PyResult<Self> {
        let class = Class::callable(py, name)?;
        Ok(Kind { class, spare: AtomicPtr::new(ptr::null_mut()), entry })
    }

    fn instance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let spare = self.spare.swap(ptr::null_mut(), Ordering::Acquire);
        if !spare.is_null() {
            // SAFETY: attached (`py`); the slot owned the reference.
            return Ok(unsafe { Bound::from_owned_ptr(py, spare) });
        }
        self.class.instance(py, Callable::new(self.entry, Link::closed()))
    }

    fn keep(&self, object: &Bound<'_, PyAny>) {
        // SAFETY: attached (`object`).
        if unsafe { ffi::Py_REFCNT(object.as_ptr()) } != 1 {
            return;
        }
        let other = self.spare.swap(object.clone().into_ptr(), Ordering::AcqRel);
        // SAFETY: attached; the slot owned the reference, if it had one.
        unsafe { ffi::Py_XDECREF(other) };
    }
}

/// An instance for one request, kept for the next when nothing else refers to it.
struct Lent<'a, 'py> {
    object: Bound<'py, PyAny>,
    from: &'a Kind,
}

impl<'a, 'py> Lent<'a, 'py> {
    fn new(py: Python<'py>, from: &'a Kind) -> PyResult<Self> {
        Ok(Lent { object: from.instance(py)?, from })
    }

    fn link(&self) -> &Link {
        // SAFETY: attached (`object`), which is of the class: `Kind::instance` made it; it is kept alive by `self`.
        unsafe { link(self.object.as_ptr()) }
    }
}

impl Drop for Lent<'_, '_> {
    fn drop(&mut self) {
        self.from.keep(&self.object);
    }
}

/// The link in an object of either type.
///
/// # Safety
/// Attached, and `this` is such an object, kept alive for `'a`.
unsafe fn link<'a>(this: *mut ffi::PyObject) -> &'a Link {
    // SAFETY: as required.
    unsafe { &Instance::<Callable<Link>>::value(this).of }
}

/// PEP 3333: `start_response(status, response_headers, exc_info=None)` gives `write`.
unsafe extern "C" fn start_response(
    this: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    nargsf: usize,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the interpreter calls this attached, with an object of the class and with arguments as vectorcall (PEP 590) gives them.
    unsafe {
        enter(|py| {
            let arguments = Arguments::new(py, args, nargsf, names);
            let parameters = ["status", "headers", "exc_info"];
            let [status, headers, exc_info] = arguments.bind("start_response", parameters)?;
            let status = status.ok_or_else(|| missing("start_response", "status"))?;
            let headers = headers.ok_or_else(|| missing("start_response", "headers"))?;
            link(this).with(py, |call| head::start(call, status, headers, exc_info))
        })
    }
}

/// PEP 3333: `write(body_data)`, given by `start_response`.
unsafe extern "C" fn write(
    this: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    nargsf: usize,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: as in `start_response`.
    unsafe {
        enter(|py| {
            let [data] = Arguments::new(py, args, nargsf, names).bind("write", ["data"])?;
            let data = data.ok_or_else(|| missing("write", "data"))?;
            link(this).with(py, |call| call.write_now(data))
        })
    }
}
