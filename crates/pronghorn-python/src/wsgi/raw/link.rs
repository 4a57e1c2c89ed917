//! The way from a Python object back to the request it serves, closed when the request ends.

use std::{cell::Cell, ptr};

use pyo3::{exceptions::PyRuntimeError, ffi, prelude::*};

use crate::wsgi::call::Call;

/// A pointer to the running [`Call`], for objects that the application holds and may keep for longer.
///
/// The call lives on the stack of the thread that runs the request, so a link is good only there and until
/// [`close`](Link::close).
#[repr(C)]
pub(crate) struct Link {
    /// Null while there is no request.
    call: Cell<*const ()>,
    /// The interpreter's state of the request's thread.
    thread: Cell<*mut ffi::PyThreadState>,
}

// SAFETY: both cells are touched only by a thread that holds the interpreter's lock.
unsafe impl Send for Link {}
// SAFETY: as above.
unsafe impl Sync for Link {}

impl Link {
    /// A link to nothing.
    pub(crate) const fn closed() -> Self {
        Link { call: Cell::new(ptr::null()), thread: Cell::new(ptr::null_mut()) }
    }

    /// Leads to `call` from here on, for this thread.
    ///
    /// # Safety
    /// [`close`](Link::close) is called before `call` is moved or dropped.
    pub(super) unsafe fn open(&self, _py: Python<'_>, call: &Call<'_, '_, '_>) {
        self.call.set(ptr::from_ref(call).cast());
        // SAFETY: attached (`_py`).
        self.thread.set(unsafe { ffi::PyThreadState_Get() });
    }

    /// Leads nowhere from here on.
    pub(super) fn close(&self) {
        self.call.set(ptr::null());
    }

    /// Runs `f` with the call.
    ///
    /// # Errors
    /// `RuntimeError` when the request has ended or another thread asks; else what `f` gives.
    #[inline]
    pub(crate) fn with<'py, R>(
        &self,
        _py: Python<'py>,
        f: impl FnOnce(&Call<'py, '_, '_>) -> PyResult<R>,
    ) -> PyResult<R> {
        let call = self.call.get();
        // SAFETY: attached (`_py`).
        if call.is_null() || self.thread.get() != unsafe { ffi::PyThreadState_Get() } {
            return Err(unusable(call.is_null()));
        }
        // SAFETY: not null, so `open` was called and `close` was not: the call lives. It lives on this thread's stack, and this
        // thread is here, so nothing moves or drops it while `f` runs. `f` is generic over its lifetimes.
        f(unsafe { &*call.cast::<Call<'py, '_, '_>>() })
    }
}

#[cold]
fn unusable(ended: bool) -> PyErr {
    PyRuntimeError::new_err(if ended {
        "used after its request ended: start_response, write and the input are good for one request"
    } else {
        "used in another thread than the one that called the application"
    })
}
