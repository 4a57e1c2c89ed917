//! What tasks and applications call of a [`Waiter`]: the methods and attributes of futures.

use std::{
    ffi::{CStr, c_void},
    ptr,
};

use pyo3::{exceptions::PyTypeError, ffi, prelude::*};

use super::{
    Awaited, Callback, State, Waiter, When, callback::add, callback::remove, cancelled, settle,
    waiter,
};
use crate::raw::{Arguments, Class, enter, missing, raise, slot};

/// The type of [`Waiter`]s.
pub(super) fn class(py: Python<'_>) -> PyResult<Class<Waiter>> {
    // The interpreter refers to both tables as long as the type lives, which is until the process ends.
    let (methods, attributes) = (methods().leak(), attributes().leak());
    let slots = [
        slot(ffi::Py_am_await, awaited as *mut c_void),
        slot(ffi::Py_tp_iter, awaited as *mut c_void),
        slot(ffi::Py_tp_methods, methods.as_mut_ptr().cast()),
        slot(ffi::Py_tp_getset, attributes.as_mut_ptr().cast()),
    ];
    // SAFETY: the functions take an `Instance<Waiter>`; the tables are leaked.
    unsafe { Class::new(py, c"pronghorn.Waiter", &slots, 0) }
}

fn methods() -> Vec<ffi::PyMethodDef> {
    use ffi::PyMethodDefPointer as Pointer;
    const KEYWORDS: i32 = ffi::METH_FASTCALL | ffi::METH_KEYWORDS;
    let method = |name: &'static CStr, ml_meth, ml_flags| ffi::PyMethodDef {
        ml_name: name.as_ptr(),
        ml_meth,
        ml_flags,
        ml_doc: ptr::null(),
    };
    let plain = |name, function| method(name, Pointer { PyCFunction: function }, ffi::METH_NOARGS);
    let keywords =
        |name, function| method(name, Pointer { PyCFunctionFastWithKeywords: function }, KEYWORDS);
    let one = Pointer { PyCFunction: remove_done_callback };
    vec![
        plain(c"get_loop", get_loop),
        plain(c"result", result),
        // It never has one: `None` too, and raises the same.
        plain(c"exception", result),
        plain(c"done", done),
        plain(c"cancelled", is_cancelled),
        plain(c"_make_cancelled_error", make_cancelled_error),
        keywords(c"add_done_callback", add_done_callback),
        keywords(c"cancel", cancel),
        method(c"remove_done_callback", one, ffi::METH_O),
        ffi::PyMethodDef::zeroed(),
    ]
}

fn attributes() -> Vec<ffi::PyGetSetDef> {
    let blocking = ffi::PyGetSetDef {
        name: c"_asyncio_future_blocking".as_ptr(),
        get: Some(get_blocking),
        set: Some(set_blocking),
        ..ffi::PyGetSetDef::default()
    };
    let message = ffi::PyGetSetDef {
        name: c"_cancel_message".as_ptr(),
        get: Some(get_cancel_message),
        ..ffi::PyGetSetDef::default()
    };
    vec![blocking, message, ffi::PyGetSetDef::default()]
}

/// `this` as an object.
///
/// # Safety
/// Attached; `this` is a [`Waiter`]'s object and kept alive for `'a`.
unsafe fn object<'a, 'py>(py: Python<'py>, this: &'a *mut ffi::PyObject) -> &'a Bound<'py, PyAny> {
    // SAFETY: as required.
    unsafe { Bound::ref_from_ptr(py, this) }
}

unsafe extern "C" fn get_loop(
    this: *mut ffi::PyObject,
    _none: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the interpreter calls this attached, with an object of the class.
    unsafe { enter(|py| Ok(waiter(object(py, &this)).event_loop(py).clone())) }
}

/// `None` once it is done.
unsafe extern "C" fn result(
    this: *mut ffi::PyObject,
    _none: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: as in `get_loop`.
    unsafe { enter(|py| waiter(object(py, &this)).result(py)) }
}

unsafe extern "C" fn done(
    this: *mut ffi::PyObject,
    _none: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: as in `get_loop`.
    unsafe { enter(|py| truth(py, waiter(object(py, &this)).is_done())) }
}

unsafe extern "C" fn is_cancelled(
    this: *mut ffi::PyObject,
    _none: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: as in `get_loop`.
    unsafe {
        enter(|py| {
            let state = waiter(object(py, &this)).state.borrow();
            truth(py, matches!(*state, State::Cancelled(_)))
        })
    }
}

/// `_make_cancelled_error()`: the exception for who gathers futures.
unsafe extern "C" fn make_cancelled_error(
    this: *mut ffi::PyObject,
    _none: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: as in `get_loop`.
    unsafe {
        enter(|py| {
            let error = cancelled(&waiter(object(py, &this)).cancel_message(py));
            Ok(error.into_value(py).into_bound(py).into_any())
        })
    }
}

/// `__await__` and `__iter__`.
unsafe extern "C" fn awaited(this: *mut ffi::PyObject) -> *mut ffi::PyObject {
    // SAFETY: as in `get_loop`.
    unsafe {
        enter(|py| {
            let this = object(py, &this);
            waiter(this).types.awaited(py, Awaited::new(this))
        })
    }
}

/// `add_done_callback(callback, *, context=None)`: what is done calls it in the loop's next round.
unsafe extern "C" fn add_done_callback(
    this: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the interpreter calls this attached, with an object of the class and with arguments as vectorcall (PEP 590) gives them.
    unsafe {
        enter(|py| {
            let arguments = Arguments::new(py, args, count as usize, names);
            let [function, context] = arguments.bind("add_done_callback", ["fn", "context"])?;
            let function = function.ok_or_else(|| missing("add_done_callback", "fn"))?;
            let context = context.filter(|context| !context.is_none());
            let callback = Callback::new(function, context);
            add(object(py, &this), callback)?;
            Ok(py.None().into_bound(py))
        })
    }
}

/// `remove_done_callback(callback)`: gives how many there were.
unsafe extern "C" fn remove_done_callback(
    this: *mut ffi::PyObject,
    callback: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the interpreter calls this attached, with an object of the class and another.
    unsafe {
        enter(|py| {
            let removed = remove(object(py, &this), object(py, &callback))?;
            Ok(removed.into_pyobject(py)?.into_any())
        })
    }
}

/// `cancel(msg=None)`: the task gets a `CancelledError` in the loop's next round. Gives whether it was pending.
unsafe extern "C" fn cancel(
    this: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    count: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: as in `add_done_callback`.
    unsafe {
        enter(|py| {
            let [message] =
                Arguments::new(py, args, count as usize, names).bind("cancel", ["msg"])?;
            let this = object(py, &this);
            if waiter(this).puts_off_cancel() {
                // Its task throws when it goes on, unless that is taken back by then.
                return truth(py, false);
            }
            let message = message.map_or_else(|| py.None(), |message| message.clone().unbind());
            let state = State::Cancelled(message);
            truth(py, settle(this, state, When::Soon)?)
        })
    }
}

/// `None` also when it was not cancelled.
unsafe extern "C" fn get_cancel_message(
    this: *mut ffi::PyObject,
    _closure: *mut c_void,
) -> *mut ffi::PyObject {
    // SAFETY: as in `get_loop`.
    unsafe { enter(|py| Ok(waiter(object(py, &this)).cancel_message(py))) }
}

unsafe extern "C" fn get_blocking(
    this: *mut ffi::PyObject,
    _closure: *mut c_void,
) -> *mut ffi::PyObject {
    // SAFETY: as in `get_loop`.
    unsafe { enter(|py| truth(py, waiter(object(py, &this)).is_blocking.get())) }
}

unsafe extern "C" fn set_blocking(
    this: *mut ffi::PyObject,
    value: *mut ffi::PyObject,
    _closure: *mut c_void,
) -> i32 {
    // SAFETY: as in `get_loop`; `value` is an object, or null for a deletion.
    unsafe {
        let py = Python::assume_attached();
        let is_blocking = match value.is_null() {
            true => Err(PyTypeError::new_err("_asyncio_future_blocking cannot be deleted")),
            false => object(py, &value).is_truthy(),
        };
        match is_blocking {
            Ok(is_blocking) => {
                waiter(object(py, &this)).is_blocking.set(is_blocking);
                0
            }
            Err(error) => {
                raise(error);
                -1
            }
        }
    }
}

fn truth(py: Python<'_>, value: bool) -> PyResult<Bound<'_, PyAny>> {
    Ok(value.into_pyobject(py)?.to_owned().into_any())
}
