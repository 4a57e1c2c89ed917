//! Types whose instances hold a Rust value, and that Python code can neither make nor change.

use std::{
    ffi::{CStr, c_int, c_void},
    marker::PhantomData,
    mem::offset_of,
    panic::{self, AssertUnwindSafe},
    ptr,
};

use pyo3::{ffi, prelude::*, types::PyType};

/// A type whose instances hold a `T`.
pub(crate) struct Class<T> {
    class: Py<PyType>,
    holds: PhantomData<fn(T)>,
}

/// An object of such a type.
#[repr(C)]
pub(crate) struct Instance<T> {
    head: ffi::PyObject,
    value: T,
}

/// What an object holds that can be called.
#[repr(C)]
pub(crate) struct Callable<T> {
    entry: Option<ffi::vectorcallfunc>,
    /// What the entry point works with.
    pub(crate) of: T,
}

impl<T> Class<T> {
    /// A type with these slots. It has no garbage collection: whoever makes instances breaks their cycles.
    ///
    /// # Errors
    /// `MemoryError`.
    ///
    /// # Safety
    /// The functions in `slots` are right for an [`Instance<T>`]; what they point to lives as long as the process.
    pub(crate) unsafe fn new(
        py: Python<'_>,
        name: &'static CStr,
        slots: &[ffi::PyType_Slot],
        flags: std::ffi::c_ulong,
    ) -> PyResult<Self> {
        let own = [slot(ffi::Py_tp_dealloc, dealloc::<T> as *mut c_void)];
        let end = [slot(0, ptr::null_mut())];
        let mut slots = [own.as_slice(), slots, end.as_slice()].concat();
        let flags = flags
            | ffi::Py_TPFLAGS_DEFAULT
            | ffi::Py_TPFLAGS_DISALLOW_INSTANTIATION
            | ffi::Py_TPFLAGS_IMMUTABLETYPE;
        let mut spec = ffi::PyType_Spec {
            name: name.as_ptr(),
            basicsize: size_of::<Instance<T>>() as c_int,
            itemsize: 0,
            flags: flags as _,
            slots: slots.as_mut_ptr(),
        };
        // SAFETY: attached (`py`); the interpreter copies the spec, and what that points to lives for long enough, as required.
        let class = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&mut spec))? };
        Ok(Class { class: class.cast_into::<PyType>()?.unbind(), holds: PhantomData })
    }

    /// The same type.
    pub(crate) fn clone_ref(&self, py: Python<'_>) -> Self {
        Class { class: self.class.clone_ref(py), holds: PhantomData }
    }

    /// What `object` holds, if it is of this type.
    pub(crate) fn value_of<'a>(&self, object: &'a Bound<'_, PyAny>) -> Option<&'a T> {
        let is_instance = object.get_type_ptr().cast() == self.class.as_ptr();
        // SAFETY: attached (`object`), which is of this type and lives as long as it is borrowed.
        is_instance.then(|| unsafe { Instance::value(object.as_ptr()) })
    }

    /// A new object that holds `value`.
    ///
    /// # Errors
    /// `MemoryError`.
    #[inline]
    pub(crate) fn instance<'py>(&self, py: Python<'py>, value: T) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: attached (`py`). The memory has the size of an `Instance<T>` and the alignment of any object; it is initialised
        // whole before anything else sees it. `dealloc` gives it back where it came from.
        unsafe {
            let memory = ffi::PyObject_Malloc(size_of::<Instance<T>>()).cast::<Instance<T>>();
            if memory.is_null() {
                ffi::PyErr_NoMemory();
                return Err(PyErr::fetch(py));
            }
            ptr::addr_of_mut!((*memory).value).write(value);
            let object = ffi::PyObject_Init(memory.cast(), self.class.as_ptr().cast());
            Ok(Bound::from_owned_ptr(py, object))
        }
    }
}

impl<T> Class<Callable<T>> {
    /// A type of objects that can be called.
    ///
    /// # Errors
    /// `MemoryError`.
    pub(crate) fn callable(py: Python<'_>, name: &'static CStr) -> PyResult<Self> {
        let offset = offset_of!(Instance<Callable<T>>, value) + offset_of!(Callable<T>, entry);
        let mut members = [offset_member(offset), END_OF_MEMBERS];
        let slots = [
            slot(ffi::Py_tp_call, ffi::PyVectorcall_Call as *mut c_void),
            slot(ffi::Py_tp_members, members.as_mut_ptr().cast()),
        ];
        // SAFETY: the interpreter looks for the entry point where it is; it copies the members, whose names are static.
        unsafe { Class::new(py, name, &slots, ffi::Py_TPFLAGS_HAVE_VECTORCALL) }
    }
}

impl<T> Callable<T> {
    /// A call of the object is a call of `entry`.
    pub(crate) fn new(entry: ffi::vectorcallfunc, of: T) -> Self {
        Callable { entry: Some(entry), of }
    }
}

impl<T> Instance<T> {
    /// What `object` holds.
    ///
    /// # Safety
    /// `object` is of a [`Class<T>`] and is kept alive for `'a`. Attached, or `T` may be used by any thread.
    #[inline]
    pub(crate) unsafe fn value<'a>(object: *mut ffi::PyObject) -> &'a T {
        // SAFETY: as required.
        unsafe { &(*object.cast::<Self>()).value }
    }
}

unsafe extern "C" fn dealloc<T>(this: *mut ffi::PyObject) {
    // SAFETY: the interpreter calls this attached, once, with an instance of a heap type, which holds a reference to its type.
    // A panic must not get into the interpreter; what is left of the value then is lost.
    unsafe {
        let class = ffi::Py_TYPE(this);
        let value = ptr::addr_of_mut!((*this.cast::<Instance<T>>()).value);
        let _ = panic::catch_unwind(AssertUnwindSafe(|| ptr::drop_in_place(value)));
        ffi::PyObject_Free(this.cast());
        ffi::Py_DECREF(class.cast());
    }
}

/// Tells the interpreter where an instance holds its entry point.
fn offset_member(offset: usize) -> ffi::PyMemberDef {
    ffi::PyMemberDef {
        name: c"__vectorcalloffset__".as_ptr(),
        type_code: ffi::Py_T_PYSSIZET,
        offset: offset as ffi::Py_ssize_t,
        flags: ffi::Py_READONLY,
        doc: ptr::null(),
    }
}

const END_OF_MEMBERS: ffi::PyMemberDef =
    ffi::PyMemberDef { name: ptr::null(), type_code: 0, offset: 0, flags: 0, doc: ptr::null() };

/// One slot of a type.
pub(crate) fn slot(slot: c_int, pfunc: *mut c_void) -> ffi::PyType_Slot {
    ffi::PyType_Slot { slot, pfunc }
}
