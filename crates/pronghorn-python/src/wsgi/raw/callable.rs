//! `start_response` and `write` as Python sees them: two callables that take their arguments from the caller's stack, and that
//! serve the next request too when the application did not keep them.

use std::{
    ffi::{CStr, c_int, c_void},
    mem::offset_of,
    panic::{self, AssertUnwindSafe},
    ptr,
    sync::atomic::{AtomicPtr, Ordering},
};

use pyo3::{exceptions::PyRuntimeError, ffi, prelude::*};

use super::{
    arguments::{Arguments, missing},
    link::Link,
};
use crate::wsgi::{call::Call, head};

/// The types of `start_response` and `write`.
pub(crate) struct Callables {
    start_response: Callable,
    write: Callable,
}

impl Callables {
    /// Makes the types.
    ///
    /// # Errors
    /// `MemoryError`.
    pub(crate) fn new(py: Python<'_>) -> PyResult<Self> {
        Ok(Callables {
            start_response: Callable::new(py, c"pronghorn.start_response", start_response)?,
            write: Callable::new(py, c"pronghorn.write", write)?,
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
struct Callable {
    class: Py<PyAny>,
    spare: AtomicPtr<ffi::PyObject>,
    call: ffi::vectorcallfunc,
}

impl Callable {
    fn new(py: Python<'_>, name: &'static CStr, call: ffi::vectorcallfunc) -> PyResult<Self> {
        let class = class(py, name)?.unbind();
        Ok(Callable { class, spare: AtomicPtr::new(ptr::null_mut()), call })
    }

    fn instance<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let spare = self.spare.swap(ptr::null_mut(), Ordering::Acquire);
        if !spare.is_null() {
            // SAFETY: attached (`py`); the slot owned the reference.
            return Ok(unsafe { Bound::from_owned_ptr(py, spare) });
        }
        // SAFETY: attached; `class` is a type whose instances are `Instance`, and whose memory comes zeroed: the link is closed,
        // and the entry point is set before anything can call it.
        unsafe {
            let object = ffi::PyType_GenericAlloc(self.class.as_ptr().cast(), 0);
            let object = Bound::from_owned_ptr_or_err(py, object)?;
            ptr::addr_of_mut!((*object.as_ptr().cast::<Instance>()).vectorcall)
                .write(Some(self.call));
            Ok(object)
        }
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
    from: &'a Callable,
}

impl<'a, 'py> Lent<'a, 'py> {
    fn new(py: Python<'py>, from: &'a Callable) -> PyResult<Self> {
        Ok(Lent { object: from.instance(py)?, from })
    }

    fn link(&self) -> &Link {
        // SAFETY: `object` is an `Instance`: `Callable::instance` made it; it is kept alive by `self`.
        unsafe { &(*self.object.as_ptr().cast::<Instance>()).link }
    }
}

impl Drop for Lent<'_, '_> {
    fn drop(&mut self) {
        self.from.keep(&self.object);
    }
}

/// An object of either type.
#[repr(C)]
struct Instance {
    head: ffi::PyObject,
    vectorcall: Option<ffi::vectorcallfunc>,
    link: Link,
}

/// PEP 3333: `start_response(status, response_headers, exc_info=None)` gives `write`.
unsafe extern "C" fn start_response(
    this: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    nargsf: usize,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the interpreter calls this attached, with an `Instance` and with arguments as vectorcall (PEP 590) gives them.
    unsafe {
        enter(this, |py, link| {
            let arguments = Arguments::new(py, args, nargsf, names);
            let parameters = ["status", "headers", "exc_info"];
            let [status, headers, exc_info] = arguments.bind("start_response", parameters)?;
            let status = status.ok_or_else(|| missing("start_response", "status"))?;
            let headers = headers.ok_or_else(|| missing("start_response", "headers"))?;
            link.with(py, |call| head::start(call, status, headers, exc_info))
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
        enter(this, |py, link| {
            let [data] = Arguments::new(py, args, nargsf, names).bind("write", ["data"])?;
            let data = data.ok_or_else(|| missing("write", "data"))?;
            link.with(py, |call| call.write_now(data))
        })
    }
}

/// Runs `f` between the interpreter and Rust: errors become the interpreter's, and a panic ends here.
///
/// # Safety
/// Attached, and `this` is an `Instance`.
#[inline]
unsafe fn enter<'py>(
    this: *mut ffi::PyObject,
    f: impl FnOnce(Python<'py>, &Link) -> PyResult<Bound<'py, PyAny>>,
) -> *mut ffi::PyObject {
    // SAFETY: attached, as required.
    let py = unsafe { Python::assume_attached() };
    // SAFETY: an `Instance`, as required; the caller holds a reference to it.
    let link = unsafe { &(*this.cast::<Instance>()).link };
    match panic::catch_unwind(AssertUnwindSafe(|| f(py, link))) {
        Ok(Ok(object)) => object.into_ptr(),
        Ok(Err(error)) => raise(py, error),
        Err(_) => raise(py, PyRuntimeError::new_err("the server failed; its log has the panic")),
    }
}

#[cold]
fn raise(_py: Python<'_>, error: PyErr) -> *mut ffi::PyObject {
    Python::attach(|py| error.restore(py));
    ptr::null_mut()
}

/// A type of `Instance`s that Python code can call, and can neither make nor change.
fn class<'py>(py: Python<'py>, name: &'static CStr) -> PyResult<Bound<'py, PyAny>> {
    let mut members = [offset_member(), END_OF_MEMBERS];
    let mut slots = [
        slot(ffi::Py_tp_dealloc, dealloc as *mut c_void),
        slot(ffi::Py_tp_call, ffi::PyVectorcall_Call as *mut c_void),
        slot(ffi::Py_tp_members, members.as_mut_ptr().cast()),
        slot(0, ptr::null_mut()),
    ];
    let flags = ffi::Py_TPFLAGS_DEFAULT
        | ffi::Py_TPFLAGS_HAVE_VECTORCALL
        | ffi::Py_TPFLAGS_DISALLOW_INSTANTIATION
        | ffi::Py_TPFLAGS_IMMUTABLETYPE;
    let mut spec = ffi::PyType_Spec {
        name: name.as_ptr(),
        basicsize: size_of::<Instance>() as c_int,
        itemsize: 0,
        flags: flags as _,
        slots: slots.as_mut_ptr(),
    };
    // SAFETY: attached (`py`); the interpreter copies what the spec points to, except for the names, which are static.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&mut spec)) }
}

unsafe extern "C" fn dealloc(this: *mut ffi::PyObject) {
    // SAFETY: the interpreter calls this attached, once, with an instance of a heap type, which holds a reference to its type.
    unsafe {
        let class = ffi::Py_TYPE(this);
        ffi::PyObject_Free(this.cast());
        ffi::Py_DECREF(class.cast());
    }
}

/// Tells the interpreter where an instance holds its entry point.
fn offset_member() -> ffi::PyMemberDef {
    ffi::PyMemberDef {
        name: c"__vectorcalloffset__".as_ptr(),
        type_code: ffi::Py_T_PYSSIZET,
        offset: offset_of!(Instance, vectorcall) as ffi::Py_ssize_t,
        flags: ffi::Py_READONLY,
        doc: ptr::null(),
    }
}

const END_OF_MEMBERS: ffi::PyMemberDef =
    ffi::PyMemberDef { name: ptr::null(), type_code: 0, offset: 0, flags: 0, doc: ptr::null() };

fn slot(slot: c_int, pfunc: *mut c_void) -> ffi::PyType_Slot {
    ffi::PyType_Slot { slot, pfunc }
}
