//! The request watchdog: who sees that a request runs too long, says so, answers its client and has its code interrupted.

mod alarm;
mod details;
mod envoy;
mod label;
mod report;
mod request_line;
mod slot;
mod thread;
mod under_way;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use self::alarm::Alarm;
pub(crate) use self::details::{Answer, LATE};
pub(crate) use self::envoy::{Envoy, Errand, Found};
pub(crate) use self::label::Label;
pub(crate) use self::request_line::RequestLine;
pub(crate) use self::slot::Slot;
pub(crate) use self::thread::start_watchdog;
pub use self::under_way::RequestTask;
use crate::sys::millis;

/// What runs in a thread of the engine, by the names that a handler knows it by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// The thread, as the system's thread library names it (`pthread_self`).
    pub thread: u64,
    /// The connection, as [`Exchange::slot`](crate::Exchange::slot) gives it.
    pub connection: (u32, u32),
}

/// What a thread is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stack {
    /// As in [`Work::thread`].
    pub thread: u64,
    /// Its calls, a line or more each, for a person to read.
    pub text: String,
}

/// What the watchdog and the threads it watches share.
pub(crate) struct Watch {
    slots: Mutex<Vec<Arc<Slot>>>,
    alarm: Alarm,
    /// The watchdog waits for the next request to begin.
    asleep: AtomicBool,
    stopping: AtomicBool,
}

impl Watch {
    /// `signals`: SIGABRT has the stacks printed.
    pub(crate) fn new(signals: bool) -> io::Result<Self> {
        Ok(Watch {
            slots: Mutex::default(),
            alarm: Alarm::new(signals)?,
            asleep: AtomicBool::new(false),
            stopping: AtomicBool::new(false),
        })
    }

    /// The place of the calling thread, until [`leave`](Watch::leave).
    pub(crate) fn join(&self) -> Arc<Slot> {
        let slot = Arc::new(Slot::new());
        self.slots().push(slot.clone());
        slot
    }

    pub(crate) fn leave(&self, slot: &Arc<Slot>) {
        self.slots().retain(|other| !Arc::ptr_eq(slot, other));
    }

    /// A request has begun in a slot.
    ///
    /// The watchdog says that it sleeps before it looks at the slots, and a request begins under its slot's lock: either the watchdog
    /// sees the request, or this sees it asleep.
    #[inline]
    pub(crate) fn begun(&self) {
        if self.asleep.load(Ordering::Relaxed) {
            self.wake();
        }
    }

    /// Has the stacks of all threads printed, with the requests they serve: by the watchdog, from any thread, at once.
    pub(crate) fn request_stacks(&self) {
        self.alarm.request_stacks();
    }

    pub(crate) fn stop(&self) {
        self.stopping.store(true, Ordering::Relaxed);
        self.alarm.ring();
    }

    #[cold]
    fn wake(&self) {
        if self.asleep.swap(false, Ordering::Relaxed) {
            self.alarm.ring();
        }
    }

    fn slots(&self) -> MutexGuard<'_, Vec<Arc<Slot>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The deadlines the watchdog sees to, in milliseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) request: Option<u64>,
    pub(crate) slow: Option<u64>,
    pub(crate) grace: u64,
}

impl Bounds {
    /// The first of them that a request comes to.
    fn first(&self) -> Option<u64> {
        [self.request, self.slow].into_iter().flatten().min()
    }
}

impl From<&crate::config::Deadlines> for Bounds {
    fn from(deadlines: &crate::config::Deadlines) -> Self {
        Bounds {
            request: deadlines.request.map(millis),
            slow: deadlines.slow_request.map(millis),
            grace: millis(deadlines.request_grace),
        }
    }
}
