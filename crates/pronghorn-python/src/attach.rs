//! The one door to the interpreter: every engine thread attaches and detaches here and nowhere else.
//!
//! A thread makes its interpreter state once, at its first `attach`, and keeps it: going in and out is then only the
//! interpreter's lock. Inside, [`assume`] hands out PyO3's token.
//!
//! PyO3 keeps its own count of attachments, which does not see ours. A `Bound` does not care. A `Py` that is dropped does, so
//! code that may drop one (an error, a response that is iterated) runs inside `Python::attach`, which costs a few
//! nanoseconds when the thread is attached already; and what crosses to the engine is an [`Object`].

use std::{
    cell::Cell,
    ptr::{self, NonNull},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use pyo3::{Borrowed, ffi, prelude::*};

/// Takes the interpreter's lock for this thread, waiting for it. The thread must not be attached.
pub(crate) fn attach() {
    THREAD.with(|thread| {
        let state = thread.state.get();
        if state.is_null() {
            // SAFETY: the interpreter runs: it is what started the server, and it waits for the server's threads.
            thread.ensured.set(Some(unsafe { ffi::PyGILState_Ensure() }));
        } else {
            // SAFETY: `state` is this thread's own, saved by the `detach` before.
            unsafe { ffi::PyEval_RestoreThread(state) };
        }
        thread.attached.set(true);
    });
    drop_deferred();
}

/// Gives the interpreter's lock back. The thread must be attached.
pub(crate) fn detach() {
    THREAD.with(|thread| {
        thread.attached.set(false);
        // SAFETY: this thread is attached, by `attach`.
        thread.state.set(unsafe { ffi::PyEval_SaveThread() });
    });
}

/// Runs `f` without the interpreter's lock. The thread must be attached, by `attach`.
pub(crate) fn detached<R>(f: impl FnOnce() -> R) -> R {
    let _attaching = Attaching;
    detach();
    f()
}

/// Attaches when it is dropped, by a panic too.
struct Attaching;

impl Drop for Attaching {
    fn drop(&mut self) {
        attach();
    }
}

/// Ends this thread's part in the interpreter; it must be detached. The last call of a thread, and harmless for one
/// that never attached.
pub(crate) fn leave() {
    THREAD.with(|thread| {
        let state = thread.state.replace(ptr::null_mut());
        if let Some(ensured) = thread.ensured.take() {
            // SAFETY: `state` is this thread's own, saved by the last `detach`; the release pairs with the one
            // `PyGILState_Ensure` of this thread.
            unsafe {
                ffi::PyEval_RestoreThread(state);
                ffi::PyGILState_Release(ensured);
            }
        }
    });
}

/// Runs `f` as on a thread that came in by [`attach`], which this one, attached otherwise, is from there on.
pub(crate) fn adopted<R>(_py: Python<'_>, f: impl FnOnce() -> R) -> R {
    let adoption = Adoption;
    THREAD.with(|thread| thread.attached.set(true));
    let result = f();
    drop(adoption);
    result
}

/// Ends with the function that it began in, by a panic too.
struct Adoption;

impl Drop for Adoption {
    fn drop(&mut self) {
        THREAD.with(|thread| {
            thread.attached.set(false);
            thread.state.set(ptr::null_mut());
        });
    }
}

/// Runs `f` with PyO3's token on a thread that is attached.
///
/// # Panics
/// When the thread is not attached: the engine calls a handler attached, always.
pub(crate) fn assume<R>(f: impl for<'py> FnOnce(Python<'py>) -> R) -> R {
    assert!(attached(), "a handler runs attached to the interpreter");
    // SAFETY: asserted above; `f` cannot keep the token, whose lifetime it cannot name.
    f(unsafe { Python::assume_attached() })
}

/// Has `exception`, a class, raised in the Python code of `thread`, soon. This thread must be attached; one that never was attached
/// has no code to raise it in.
pub(crate) fn raise_in(thread: u64, exception: &Bound<'_, PyAny>) {
    // SAFETY: this thread is attached (`exception`), and the call takes a reference of its own.
    unsafe { ffi::PyThreadState_SetAsyncExc(thread as _, exception.as_ptr()) };
}

/// Takes back what [`raise_in`] was to raise in this thread, if it was not raised yet. The thread must be attached.
pub(crate) fn forget_raised() {
    assume(|_| {
        // SAFETY: this thread is attached (`assume`), so it has a state; nothing is raised.
        unsafe {
            let thread = ffi::PyThread_get_thread_ident();
            ffi::PyThreadState_SetAsyncExc(thread as _, ptr::null_mut());
        }
    });
}

/// An owned Python object that may be dropped by any thread, attached or not.
///
/// A thread that is not attached leaves the object to the next one that attaches. Only for objects whose end runs no
/// Python code, as it may come anywhere: `bytes`, `str`, and dicts that the application never sees.
pub(crate) struct Object(NonNull<ffi::PyObject>);

// SAFETY: the object is touched only through a `Python` token or, when dropped, by a thread that is attached.
unsafe impl Send for Object {}
// SAFETY: as above; a shared reference gives no more than the pointer.
unsafe impl Sync for Object {}

impl Object {
    /// Takes ownership of `object`.
    pub(crate) fn new<T>(object: Bound<'_, T>) -> Self {
        // SAFETY: a `Bound` is never null.
        Object(unsafe { NonNull::new_unchecked(object.into_ptr()) })
    }

    /// The pointer, borrowed from this owner.
    pub(crate) fn as_ptr(&self) -> *mut ffi::PyObject {
        self.0.as_ptr()
    }

    /// The object, borrowed from this owner.
    #[inline]
    pub(crate) fn bind<'a, 'py>(&'a self, py: Python<'py>) -> Borrowed<'a, 'py, PyAny> {
        // SAFETY: attached (`py`); `self` owns the reference and outlives `'a`.
        unsafe { Borrowed::from_ptr(py, self.0.as_ptr()) }
    }

    /// Gives the object back to PyO3.
    pub(crate) fn into_bound(self, py: Python<'_>) -> Bound<'_, PyAny> {
        let pointer = self.0.as_ptr();
        std::mem::forget(self);
        // SAFETY: `self` owned the reference and is forgotten.
        unsafe { Bound::from_owned_ptr(py, pointer) }
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        if attached() {
            // SAFETY: this thread is attached and `self` owns the reference.
            unsafe { ffi::Py_DECREF(self.0.as_ptr()) };
        } else {
            deferred().push(Reference(self.0));
            PENDING.store(true, Ordering::Release);
        }
    }
}

/// Whether this thread came in through `attach` and has not gone out.
pub(crate) fn attached() -> bool {
    THREAD.with(|thread| thread.attached.get())
}

/// Drops what threads that were not attached left behind. This thread is attached.
fn drop_deferred() {
    if !PENDING.load(Ordering::Acquire) {
        return;
    }
    PENDING.store(false, Ordering::Release);
    let left = std::mem::take(&mut *deferred());
    for Reference(object) in left {
        // SAFETY: this thread is attached, and the list owned the reference.
        unsafe { ffi::Py_DECREF(object.as_ptr()) };
    }
}

fn deferred() -> std::sync::MutexGuard<'static, Vec<Reference>> {
    DEFERRED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A reference without an owner, on its way to a thread that can drop it.
struct Reference(NonNull<ffi::PyObject>);

// SAFETY: only moved between threads; touched by an attached one.
unsafe impl Send for Reference {}

struct Thread {
    /// The interpreter's state of this thread while it is detached; null before the first `attach`.
    state: Cell<*mut ffi::PyThreadState>,
    /// What `PyGILState_Ensure` said at the first `attach`.
    ensured: Cell<Option<ffi::PyGILState_STATE>>,
    attached: Cell<bool>,
}

thread_local! {
    static THREAD: Thread = const {
        Thread { state: Cell::new(ptr::null_mut()), ensured: Cell::new(None), attached: Cell::new(false) }
    };
}

/// References dropped by threads that were not attached.
static DEFERRED: Mutex<Vec<Reference>> = Mutex::new(Vec::new());
/// Whether `DEFERRED` holds any: the one thing an `attach` looks at.
static PENDING: AtomicBool = AtomicBool::new(false);
