//! Who is told how the server is.

use crate::sys::millis;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Once};
use std::time::Duration;

/// What a server tells, from the thread that handles its events: neither call may wait.
pub trait Witness: fmt::Debug + Send + Sync {
    /// The drain begins. Called once.
    fn draining(&self);

    /// The server handles events. Called at least every [`Witness::pulse`], except while the only thread runs a request.
    fn alive(&self);

    /// How often [`Witness::alive`] is to be called.
    fn pulse(&self) -> Option<Duration> {
        None
    }
}

/// A witness, and what it has been told.
#[derive(Debug)]
pub(crate) struct Told {
    witness: Arc<dyn Witness>,
    pulse: Option<u64>,
    draining: Once,
    alive_at: AtomicU64,
}

impl Told {
    pub(crate) fn new(witness: Arc<dyn Witness>) -> Self {
        let pulse = witness.pulse().map(millis);
        Told { witness, pulse, draining: Once::new(), alive_at: AtomicU64::new(0) }
    }

    pub(crate) fn draining(&self) {
        self.draining.call_once(|| self.witness.draining());
    }

    pub(crate) fn alive(&self, now: u64) {
        if self.wait(now) == Some(0) {
            self.alive_at.store(now, Ordering::Relaxed);
            self.witness.alive();
        }
    }

    /// In how many milliseconds a sign of life is due.
    pub(crate) fn wait(&self, now: u64) -> Option<u64> {
        let due = self.alive_at.load(Ordering::Relaxed).saturating_add(self.pulse?.max(1));
        Some(due.saturating_sub(now))
    }
}
