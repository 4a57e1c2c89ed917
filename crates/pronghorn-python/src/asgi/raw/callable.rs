//! `receive` and `send` as Python sees them.

use std::rc::Rc;

use pyo3::{exceptions::PyTypeError, ffi, prelude::*, types::PyDict};

use super::{
    awaitable::Wait,
    call::{Call, Operation, Sent},
};
use crate::raw::{Arguments, Callable, Instance, enter, missing};

/// `receive()`: acts when what it gives is awaited.
pub(super) unsafe extern "C" fn receive(
    this: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    nargsf: usize,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: the interpreter calls this attached, with an object of the class and with arguments as vectorcall (PEP 590) gives them.
    unsafe {
        enter(|py| {
            let [] = Arguments::new(py, args, nargsf, names).bind("receive", [])?;
            wait(py, call(this), Operation::Receive)
        })
    }
}

/// `send(message)`: acts at once. What it gives is done, unless the client has to catch up.
pub(super) unsafe extern "C" fn send(
    this: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    nargsf: usize,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: as in `receive`.
    unsafe {
        enter(|py| {
            let [message] = Arguments::new(py, args, nargsf, names).bind("send", ["message"])?;
            let message = message.ok_or_else(|| missing("send", "message"))?;
            let message = message.cast::<PyDict>().map_err(|_| not_a_dict(message))?;
            let call = call(this);
            call.check_thread(py)?;
            let sent = call.send(message)?;
            call.has_sent(py)?;
            match sent {
                Sent::Done => Ok(call.types.done.bind(py).clone()),
                Sent::Full => wait(py, call, Operation::Send),
            }
        })
    }
}

fn wait<'py>(
    py: Python<'py>,
    call: &Rc<Call>,
    operation: Operation,
) -> PyResult<Bound<'py, PyAny>> {
    call.types.wait.instance(py, Wait::new(Rc::clone(call), operation))
}

/// The call of `receive` or `send`.
///
/// # Safety
/// Attached, and `this` is such an object, kept alive for `'a`.
unsafe fn call<'a>(this: *mut ffi::PyObject) -> &'a Rc<Call> {
    // SAFETY: as required.
    unsafe { &Instance::<Callable<Rc<Call>>>::value(this).of }
}

#[cold]
fn not_a_dict(message: &Bound<'_, PyAny>) -> PyErr {
    let name = message.get_type().name();
    let name = name.map_or_else(|_| "another object".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!("send() takes a message, which is a dict with a type, not {name}"))
}
