//! What a task waits for while an operation is pending: a future, as far as tasks use one.
//!
//! A future of asyncio gives its callback to the loop, which runs it in a later round, each by itself. This one can be woken from the
//! turn in which the server finds out: the task goes on at once, in its own context, with the others of that turn.

use std::{
    cell::{Cell, RefCell},
    ffi::{CStr, c_void},
    ptr,
};

use pyo3::{
    exceptions::{
        PyTypeError,
        asyncio::{CancelledError, InvalidStateError},
    },
    ffi, intern,
    prelude::*,
    types::PyDict,
};

use crate::raw::{Arguments, Class, Instance, enter, missing, raise, slot};

/// One wait of one task.
pub(super) struct Waiter {
    event_loop: Py<PyAny>,
    state: RefCell<State>,
    /// A task yields what it waits for with this set, and clears it when it has taken note.
    is_blocking: Cell<bool>,
}

/// How far it is.
enum State {
    /// Nobody has asked to be called as yet.
    Fresh,
    Awaited(Callback),
    /// It is worth trying again.
    Done,
    /// With the message of who cancelled it.
    Cancelled(Py<PyAny>),
}

/// Who is to be called.
struct Callback {
    function: Py<PyAny>,
    context: Option<Py<PyAny>>,
}

/// When the task goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::asgi) enum When {
    /// Before the wake returns: no task may be running.
    Now,
    /// In the loop's next round.
    Soon,
}

/// The type of [`Waiter`]s.
///
/// # Errors
/// `MemoryError`.
pub(super) fn class(py: Python<'_>) -> PyResult<Class<Waiter>> {
    // The interpreter refers to both tables as long as the type lives, which is until the process ends.
    let (methods, attributes) = (methods().leak(), attributes().leak());
    let slots = [
        slot(ffi::Py_tp_methods, methods.as_mut_ptr().cast()),
        slot(ffi::Py_tp_getset, attributes.as_mut_ptr().cast()),
    ];
    // SAFETY: the functions take an `Instance<Waiter>`; the tables are leaked.
    unsafe { Class::new(py, c"pronghorn.Waiter", &slots, 0) }
}

/// The waiter that `object` is.
fn waiter<'a>(object: &'a Bound<'_, PyAny>) -> &'a Waiter {
    // SAFETY: attached, and kept alive, by `object`, which is of the class in all uses here.
    unsafe { Instance::<Waiter>::value(object.as_ptr()) }
}

/// Lets the task that waits for `object`, a [`Waiter`], go on; again it does nothing.
///
/// # Errors
/// What ends the loop, if the task raised it; those of the loop.
pub(super) fn wake(object: &Bound<'_, PyAny>, when: When) -> PyResult<()> {
    settle(object, State::Done, when).map(drop)
}

/// Gives whether it was pending.
fn settle(object: &Bound<'_, PyAny>, state: State, when: When) -> PyResult<bool> {
    let this = waiter(object);
    if matches!(*this.state.borrow(), State::Done | State::Cancelled(_)) {
        return Ok(false);
    }
    match this.state.replace(state) {
        State::Awaited(callback) => callback.call(object, when).map(|()| true),
        _ => Ok(true),
    }
}

impl Waiter {
    pub(super) fn new(event_loop: Py<PyAny>) -> Self {
        Waiter { event_loop, state: RefCell::new(State::Fresh), is_blocking: Cell::new(true) }
    }

    /// # Errors
    /// It was cancelled; it is pending.
    fn result<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &*self.state.borrow() {
            State::Done => Ok(py.None().into_bound(py)),
            State::Cancelled(message) => Err(cancelled(message.bind(py))),
            _ => Err(InvalidStateError::new_err("Result is not set.")),
        }
    }

    fn is_done(&self) -> bool {
        matches!(*self.state.borrow(), State::Done | State::Cancelled(_))
    }
}

impl Callback {
    fn call(self, waiter: &Bound<'_, PyAny>, when: When) -> PyResult<()> {
        let py = waiter.py();
        match &self.context {
            Some(context) if when == When::Now && enter_context(context.bind(py)) => {
                let called = self.function.bind(py).call1((waiter,));
                exit_context(context.bind(py));
                called.map(drop)
            }
            _ => self.call_soon(waiter),
        }
    }

    fn call_soon(&self, object: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = object.py();
        let event_loop = waiter(object).event_loop.bind(py);
        let keywords = PyDict::new(py);
        if let Some(context) = &self.context {
            keywords.set_item(intern!(py, "context"), context)?;
        }
        let args = (&self.function, object);
        event_loop.call_method(intern!(py, "call_soon"), args, Some(&keywords)).map(drop)
    }
}

/// False if it is entered already, or is none.
fn enter_context(context: &Bound<'_, PyAny>) -> bool {
    // SAFETY: attached (`context`); the interpreter checks the type.
    let entered = unsafe { ffi::PyContext_Enter(context.as_ptr()) == 0 };
    if !entered {
        drop(PyErr::take(context.py()));
    }
    entered
}

fn exit_context(context: &Bound<'_, PyAny>) {
    // SAFETY: attached (`context`); it was entered before, and no exception is set: who called has fetched it.
    if unsafe { ffi::PyContext_Exit(context.as_ptr()) } != 0 {
        PyErr::fetch(context.py()).write_unraisable(context.py(), None);
    }
}

#[cold]
fn cancelled(message: &Bound<'_, PyAny>) -> PyErr {
    match message.is_none() {
        true => CancelledError::new_err(()),
        false => CancelledError::new_err((message.clone().unbind(),)),
    }
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
        plain(c"exception", exception),
        plain(c"done", done),
        plain(c"cancelled", is_cancelled),
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
    vec![blocking, ffi::PyGetSetDef::default()]
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
    unsafe { enter(|py| Ok(waiter(object(py, &this)).event_loop.bind(py).clone())) }
}

/// `None` once it is done.
unsafe extern "C" fn result(
    this: *mut ffi::PyObject,
    _none: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: as in `get_loop`.
    unsafe { enter(|py| waiter(object(py, &this)).result(py)) }
}

/// It never has one.
unsafe extern "C" fn exception(
    this: *mut ffi::PyObject,
    none: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: as in `get_loop`.
    unsafe { result(this, none) }
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

/// `add_done_callback(callback, *, context=None)`: of one task. What is done calls it in the loop's next round.
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
            let callback = Callback {
                function: function.clone().unbind(),
                context: context.map(|context| context.clone().unbind()),
            };
            add(object(py, &this), callback)?;
            Ok(py.None().into_bound(py))
        })
    }
}

fn add(object: &Bound<'_, PyAny>, callback: Callback) -> PyResult<()> {
    let this = waiter(object);
    if this.is_done() {
        return callback.call_soon(object);
    }
    match this.state.replace(State::Awaited(callback)) {
        State::Awaited(other) => {
            this.state.replace(State::Awaited(other));
            Err(PyTypeError::new_err("another task waits for this already"))
        }
        _ => Ok(()),
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
            let (this, callback) = (waiter(object(py, &this)), object(py, &callback));
            let known = match &*this.state.borrow() {
                State::Awaited(known) => Some(known.function.clone_ref(py)),
                _ => None,
            };
            // This may run any code.
            let found = known.map_or(Ok(false), |known| known.bind(py).eq(callback))?;
            // What it held may run code when it goes.
            let removed = found.then(|| this.state.replace(State::Fresh));
            drop(removed);
            Ok(i32::from(found).into_pyobject(py)?.into_any())
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
            let message = message.map_or_else(|| py.None(), |message| message.clone().unbind());
            let state = State::Cancelled(message);
            truth(py, settle(object(py, &this), state, When::Soon)?)
        })
    }
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
