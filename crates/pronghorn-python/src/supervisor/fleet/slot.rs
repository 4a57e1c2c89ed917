//! One place of the fleet: who serves there, who is about to, and when the next one is tried.

use super::{Cause, Id};

/// A place for one worker that serves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) serving: Option<Serving>,
    pub(super) starting: Option<Starting>,
    /// Why a worker is started when none serves.
    pub(super) cause: Cause,
    /// How many in a row ended before they were of use.
    pub(super) failures: u32,
    /// Before this time none is started.
    pub(super) not_before: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Serving {
    pub(super) id: Id,
    pub(super) since: u64,
    /// When it has lived long enough.
    pub(super) retires_at: Option<u64>,
    /// Why it is to be replaced.
    pub(super) wanted: Option<Cause>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Starting {
    pub(super) id: Id,
    pub(super) cause: Cause,
    /// When it has taken too long.
    pub(super) until: u64,
    /// It waits for a repair of the application, and ends then.
    pub(super) waits: bool,
    /// What it imports was changed since it began.
    pub(super) is_outdated: bool,
    /// It has said so itself: it is to be replaced as soon as it serves.
    pub(super) asks: bool,
}

impl Slot {
    /// Whether the worker `id` serves here.
    pub(super) fn serves(&self, id: Id) -> bool {
        self.serving.is_some_and(|serving| serving.id == id)
    }

    /// Whether the worker `id` is about to.
    pub(super) fn starts(&self, id: Id) -> bool {
        self.starting.is_some_and(|starting| starting.id == id)
    }

    /// Why a worker is to be started here, if one is.
    pub(super) fn missing(&self) -> Option<Cause> {
        match (self.starting, self.serving) {
            (Some(_), _) => None,
            (None, Some(serving)) => serving.wanted,
            (None, None) => Some(self.cause),
        }
    }

    /// A worker ended that was not told to. `soon`: before it was of use.
    pub(super) fn failed(&mut self, now: u64, soon: bool) {
        self.failures = if soon { self.failures + 1 } else { 0 };
        self.not_before = now + pause(self.failures);
    }

    pub(super) fn next_time(&self, another_reloads: bool) -> Option<u64> {
        let late = self.starting.map(|starting| starting.until).filter(|until| *until < u64::MAX);
        let retires = self.serving.and_then(|serving| serving.retires_at);
        let missing = self.missing().filter(|cause| *cause != Cause::Reload || !another_reloads);
        let starts = missing.map(|_| self.not_before);
        [late, retires, starts].into_iter().flatten().min()
    }
}

impl Default for Slot {
    fn default() -> Self {
        Slot { serving: None, starting: None, cause: Cause::Start, failures: 0, not_before: 0 }
    }
}

/// How long to wait after so many failures in a row: not at all after the first, then longer and longer.
pub(super) fn pause(failures: u32) -> u64 {
    match failures {
        0 | 1 => 0,
        more => (1000 << (more - 2).min(5)).min(LONGEST_PAUSE),
    }
}

/// The longest pause between two tries.
const LONGEST_PAUSE: u64 = 30_000;
