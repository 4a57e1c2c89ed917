//! What the engine serves: the one trait between it and an application.

use std::any::Any;
use std::mem::MaybeUninit;

use crate::exchange::Exchange;
use crate::watchdog::{RequestTask, Stack, Work};

/// Answers requests.
///
/// The engine calls [`handle`](Handler::handle) on any of its threads, several at once when it has more than one. An
/// application that needs its thread attached to an interpreter says so with [`attach`](Handler::attach) and
/// [`detach`](Handler::detach); one that does not leaves them out.
pub trait Handler: Send + Sync + 'static {
    /// A thread of the engine begins; called once on it, before anything else.
    fn thread_start(&self) {}

    /// A thread of the engine ends; called once on it, detached, after everything else.
    fn thread_stop(&self) {}

    /// The logs were renamed: those of the handler's own are to be opened anew. Called with no lock held; must not wait.
    fn reopen_logs(&self) {}

    /// The thread is about to call [`handle`](Handler::handle). May wait (for an interpreter's lock); the engine holds no lock of
    /// its own meanwhile.
    fn attach(&self) {}

    /// The thread is about to wait, or has no more requests.
    fn detach(&self) {}

    /// Answers one request. Called attached. Returning without [`Exchange::finish`] or [`Exchange::respond`], or a panic,
    /// counts as a failure of the application: 500 if nothing was sent, else the connection is aborted.
    fn handle(&self, exchange: &mut Exchange<'_>);

    /// Memory for a body, or a message of bytes of a WebSocket, of exactly `length` bytes that the application can take over without a copy. Called attached;
    /// must not wait. `None`: the engine uses memory of its own.
    fn body_buffer(&self, length: usize) -> Option<Box<dyn BodyBuffer>> {
        let _ = length;
        None
    }

    /// What threads are doing: one of them, or all that run code of the application. Called attached, by a thread that serves no
    /// requests.
    fn stacks(&self, only: Option<u64>) -> Vec<Stack> {
        let _ = only;
        Vec::new()
    }

    /// As [`stacks`](Handler::stacks), when the interpreter's lock is not to be had: called detached, by any thread, and must not wait.
    fn stacks_at_once(&self, only: Option<u64>) -> Vec<Stack> {
        let _ = only;
        Vec::new()
    }

    /// The tasks of requests, in the order of their [`rank`](crate::Summary::rank): the first `most` with where they wait. Called
    /// attached, by a thread that serves no requests.
    fn tasks(&self, most: usize) -> Vec<RequestTask> {
        let _ = most;
        Vec::new()
    }

    /// Makes the code that answers a request end soon, as by an exception. Called attached, by a thread that serves no requests,
    /// and under a lock that the request's end waits for: must not run code of the application.
    fn interrupt(&self, work: Work) {
        let _ = work;
    }

    /// A request that was interrupted has ended on this thread: an interruption that had no effect yet must not have any on
    /// what comes next. Called attached.
    fn forget_interrupt(&self) {}
}

/// Memory that a handler lends for a request's body.
#[allow(unsafe_code)]
pub trait BodyBuffer: Send + Any {
    /// The part that is not filled yet.
    fn spare(&mut self) -> &mut [MaybeUninit<u8>];

    /// The next `filled` bytes of [`spare`](BodyBuffer::spare) are the body's.
    ///
    /// # Safety
    /// They are initialised, and `filled` is at most the length of `spare`.
    unsafe fn advance(&mut self, filled: usize);

    /// For the handler to get its own type back.
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}
