//! The protocol of coroutines (PEP 492): objects that are awaited step by step, and whose steps are a Rust value's.
//!
//! With `send`, `throw`, `close` and `__await__` they are `collections.abc.Coroutine`s, which tasks run as they are.

use std::{
    ffi::{CStr, c_char, c_void},
    ptr,
};

use pyo3::{
    exceptions::{PyBaseException, PyStopIteration},
    ffi::{self, PySendResult},
    intern,
    prelude::*,
    types::{PyTraceback, PyTuple, PyType},
};

use super::stop::stop_with;
use crate::raw::{Arguments, Class, Instance, enter, guarded, missing, raise, slot};

/// What takes steps.
pub(super) trait Steps: Sized {
    /// The attributes of its objects.
    const ATTRIBUTES: &'static [&'static CStr];

    /// Goes on with `value` as the result of what it yielded last. `this` is the object it is the value of.
    ///
    /// # Errors
    /// Its end by an exception.
    fn step<'py>(&self, this: &Bound<'py, PyAny>, value: &Bound<'py, PyAny>)
    -> PyResult<Step<'py>>;

    /// Goes on with an exception: raises it, if nothing is to be done about it.
    ///
    /// # Errors
    /// As for [`step`](Steps::step).
    fn throw<'py>(
        &self,
        _this: &Bound<'py, PyAny>,
        thrown: Thrown<'_, 'py>,
    ) -> PyResult<Step<'py>> {
        Err(thrown.error()?)
    }

    /// Ends it where it is.
    ///
    /// # Errors
    /// What it raises instead.
    fn close(&self, _py: Python<'_>) -> PyResult<()> {
        Ok(())
    }

    /// The attribute `name`, one of [`ATTRIBUTES`](Steps::ATTRIBUTES).
    ///
    /// # Errors
    /// `AttributeError`.
    fn attribute<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>>;
}

/// What a step came to.
pub(super) enum Step<'py> {
    /// It waits for this.
    Yield(Bound<'py, PyAny>),
    /// This is the result.
    Return(Bound<'py, PyAny>),
}

/// The arguments of `throw`: an exception, or a class, a value and a traceback.
pub(super) struct Thrown<'a, 'py> {
    py: Python<'py>,
    args: [Option<&'a Bound<'py, PyAny>>; 3],
}

impl<'py> Thrown<'_, 'py> {
    pub(super) fn py(&self) -> Python<'py> {
        self.py
    }

    /// The exception.
    ///
    /// # Errors
    /// `TypeError` when it is none.
    pub(super) fn error(&self) -> PyResult<PyErr> {
        let [class, value, traceback] = self.args;
        let class = class.ok_or_else(|| missing("throw", "type"))?;
        let given = value.filter(|value| !value.is_none());
        let error = match given {
            Some(value) if value.is_instance_of::<PyBaseException>() => value.clone(),
            Some(value) if class.is_instance_of::<PyType>() => class.call1((value,))?,
            _ => class.clone(),
        };
        let error = PyErr::from_value(error);
        if let Some(traceback) = traceback.and_then(|it| it.cast::<PyTraceback>().ok()) {
            error.set_traceback(self.py, Some(traceback.clone()));
        }
        Ok(error)
    }

    /// Throws the same into `steps`.
    ///
    /// # Errors
    /// What that raises.
    pub(super) fn pass_on(&self, steps: &Bound<'py, PyAny>) -> PyResult<Step<'py>> {
        let args = self.args.iter().flatten().copied();
        let args = PyTuple::new(self.py, args.collect::<Vec<_>>())?;
        throw(steps, &args, || self.error())
    }
}

/// Throws into `steps` with the arguments of `throw`: what cannot be thrown into ends by `error`.
///
/// # Errors
/// What that raises.
pub(super) fn throw<'py>(
    steps: &Bound<'py, PyAny>,
    args: &Bound<'py, PyTuple>,
    error: impl FnOnce() -> PyResult<PyErr>,
) -> PyResult<Step<'py>> {
    let py = steps.py();
    let Some(throw) = steps.getattr_opt(intern!(py, "throw"))? else { return Err(error()?) };
    match throw.call1(args) {
        Ok(future) => Ok(Step::Yield(future)),
        Err(error) if error.is_instance_of::<PyStopIteration>(py) => {
            error.value(py).getattr(intern!(py, "value")).map(Step::Return)
        }
        Err(error) => Err(error),
    }
}

/// Takes a step of `steps`.
///
/// # Errors
/// What that raises.
#[inline]
pub(super) fn send<'py>(
    steps: &Bound<'py, PyAny>,
    value: &Bound<'py, PyAny>,
) -> PyResult<Step<'py>> {
    let py = steps.py();
    let mut result = ptr::null_mut();
    // SAFETY: attached (`steps`). Except after an error, the call leaves an object in `result`, and a reference to it that is ours.
    unsafe {
        match ffi::PyIter_Send(steps.as_ptr(), value.as_ptr(), &mut result) {
            PySendResult::PYGEN_NEXT => Ok(Step::Yield(Bound::from_owned_ptr(py, result))),
            PySendResult::PYGEN_RETURN => Ok(Step::Return(Bound::from_owned_ptr(py, result))),
            PySendResult::PYGEN_ERROR => Err(PyErr::fetch(py)),
        }
    }
}

/// A type of objects that take steps.
///
/// # Errors
/// `MemoryError`.
pub(super) fn class<T: Steps>(py: Python<'_>, name: &'static CStr) -> PyResult<Class<T>> {
    // The interpreter refers to both tables as long as the type lives, which is until the process ends.
    let (methods, attributes) = (methods::<T>().leak(), attributes::<T>().leak());
    let slots = [
        slot(ffi::Py_am_await, ffi::PyObject_SelfIter as *mut c_void),
        slot(ffi::Py_am_send, am_send::<T> as *mut c_void),
        slot(ffi::Py_tp_iter, ffi::PyObject_SelfIter as *mut c_void),
        slot(ffi::Py_tp_iternext, iternext::<T> as *mut c_void),
        slot(ffi::Py_tp_methods, methods.as_mut_ptr().cast()),
        slot(ffi::Py_tp_getset, attributes.as_mut_ptr().cast()),
    ];
    // SAFETY: the functions take an `Instance<T>`; the tables are leaked.
    unsafe { Class::new(py, name, &slots, 0) }
}

fn methods<T: Steps>() -> Vec<ffi::PyMethodDef> {
    use ffi::PyMethodDefPointer as Pointer;
    let method = |name: &'static CStr, pointer, flags| ffi::PyMethodDef {
        ml_name: name.as_ptr(),
        ml_meth: pointer,
        ml_flags: flags,
        ml_doc: ptr::null(),
    };
    vec![
        method(c"send", Pointer { PyCFunction: send_method::<T> }, ffi::METH_O),
        method(c"throw", Pointer { PyCFunctionFast: throw_method::<T> }, ffi::METH_FASTCALL),
        method(c"close", Pointer { PyCFunction: close_method::<T> }, ffi::METH_NOARGS),
        ffi::PyMethodDef::zeroed(),
    ]
}

fn attributes<T: Steps>() -> Vec<ffi::PyGetSetDef> {
    let attribute = |name: &&'static CStr| ffi::PyGetSetDef {
        name: name.as_ptr(),
        get: Some(get_attribute::<T>),
        closure: name.as_ptr().cast_mut().cast(),
        ..ffi::PyGetSetDef::default()
    };
    let attributes = T::ATTRIBUTES.iter().map(attribute);
    attributes.chain([ffi::PyGetSetDef::default()]).collect()
}

/// `am_send`, by which tasks take steps.
unsafe extern "C" fn am_send<T: Steps>(
    this: *mut ffi::PyObject,
    value: *mut ffi::PyObject,
    result: *mut *mut ffi::PyObject,
) -> PySendResult {
    // SAFETY: the interpreter calls this attached, with an `Instance<T>`, an object, and a place for another.
    unsafe {
        match step::<T>(this, value) {
            Ok(Step::Yield(object)) => {
                result.write(object.into_ptr());
                PySendResult::PYGEN_NEXT
            }
            Ok(Step::Return(object)) => {
                result.write(object.into_ptr());
                PySendResult::PYGEN_RETURN
            }
            Err(error) => {
                result.write(raise(error));
                PySendResult::PYGEN_ERROR
            }
        }
    }
}

/// `tp_iternext`, by which `await` takes steps since CPython 3.12. Null without an exception is the end with `None`.
unsafe extern "C" fn iternext<T: Steps>(this: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: the interpreter calls this attached, with an `Instance<T>`.
    unsafe {
        match step::<T>(this, ffi::Py_None()) {
            Ok(Step::Yield(object)) => object.into_ptr(),
            Ok(Step::Return(object)) if object.is_none() => ptr::null_mut(),
            Ok(Step::Return(object)) => {
                stop_with(&object);
                ptr::null_mut()
            }
            Err(error) => raise(error),
        }
    }
}

/// `send(value)`.
unsafe extern "C" fn send_method<T: Steps>(
    this: *mut ffi::PyObject,
    value: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: as for `am_send`.
    unsafe { give(step::<T>(this, value)) }
}

/// `throw(type, value=None, traceback=None)`.
unsafe extern "C" fn throw_method<T: Steps>(
    this: *mut ffi::PyObject,
    args: *mut *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
) -> *mut ffi::PyObject {
    // SAFETY: the interpreter calls this attached, with an `Instance<T>` and `count` arguments.
    unsafe {
        let py = Python::assume_attached();
        give(guarded(|| {
            let arguments = Arguments::new(py, args, count as usize, ptr::null_mut());
            let args = arguments.bind("throw", ["type", "value", "traceback"])?;
            let this = Bound::from_borrowed_ptr(py, this);
            Instance::<T>::value(this.as_ptr()).throw(&this, Thrown { py, args })
        }))
    }
}

/// `close()`.
unsafe extern "C" fn close_method<T: Steps>(
    this: *mut ffi::PyObject,
    _none: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the interpreter calls this attached, with an `Instance<T>`.
    unsafe {
        enter(|py| {
            Instance::<T>::value(this).close(py)?;
            Ok(py.None().into_bound(py))
        })
    }
}

unsafe extern "C" fn get_attribute<T: Steps>(
    this: *mut ffi::PyObject,
    name: *mut c_void,
) -> *mut ffi::PyObject {
    // SAFETY: the interpreter calls this attached, with an `Instance<T>` and the closure of `attributes`: a static name.
    unsafe {
        enter(|py| {
            let name = CStr::from_ptr(name.cast::<c_char>()).to_string_lossy();
            Instance::<T>::value(this).attribute(py, &name)
        })
    }
}

/// # Safety
/// Attached; `this` is an `Instance<T>` and `value` an object, and both are kept alive for `'py`.
#[inline]
unsafe fn step<'py, T: Steps>(
    this: *mut ffi::PyObject,
    value: *mut ffi::PyObject,
) -> PyResult<Step<'py>> {
    // SAFETY: as required.
    let (steps, this, value) = unsafe {
        let py = Python::assume_attached();
        let this = Bound::from_borrowed_ptr(py, this);
        (Instance::<T>::value(this.as_ptr()), this, Bound::from_borrowed_ptr(py, value))
    };
    guarded(|| steps.step(&this, &value))
}

/// What a method of a coroutine gives for a step: what it waits for, or `StopIteration` with the result.
fn give(step: PyResult<Step<'_>>) -> *mut ffi::PyObject {
    match step {
        Ok(Step::Yield(object)) => object.into_ptr(),
        Ok(Step::Return(object)) => stop(object),
        Err(error) => raise(error),
    }
}

/// Raises `StopIteration`. The results here are dicts and `None`, which need no wrapping.
fn stop(result: Bound<'_, PyAny>) -> *mut ffi::PyObject {
    // SAFETY: attached (`result`).
    unsafe { ffi::PyErr_SetObject(ffi::PyExc_StopIteration, result.as_ptr()) };
    ptr::null_mut()
}
