//! What one thread of the engine runs, as the watchdog sees it, and who of both may answer it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::details::{Answer, Details, Finding, Seen};
use super::{Bounds, Work};
use crate::client::Client;
use crate::config::Config;
use crate::event_loop::Job;

/// The word: which request it is, and how far that is.
const RUNNING: u64 = 1;
/// The thread has begun the response.
const BEGUN: u64 = 2;
/// The request is over its time. Whoever set one of these two first has the right to the response.
const OVERDUE: u64 = 4;
const FLAGS: u64 = RUNNING | BEGUN | OVERDUE;
const NEXT: u64 = 8;

/// A thread's place.
///
/// The thread alone moves the word to the next request, under the lock, and away from `RUNNING`: without the lock as long as the request
/// is not overdue. So while the lock is held and `OVERDUE` is set, the request stays, and its socket stays open.
pub(crate) struct Slot {
    word: AtomicU64,
    details: Mutex<Details>,
}

/// For the thread whose slot it is.
impl Slot {
    /// For the calling thread.
    pub(super) fn new() -> Self {
        Slot { word: AtomicU64::new(0), details: Mutex::new(Details::new()) }
    }

    /// A request begins.
    #[inline]
    pub(crate) fn begin(&self, job: &Job, now: u64) {
        let mut details = self.details();
        details.begin(job, now);
        let word = self.word.load(Ordering::Relaxed) & !FLAGS;
        self.word.store((word + NEXT) | RUNNING, Ordering::Relaxed);
    }

    /// Claims the right to the response; false if the request is over its time.
    #[inline]
    pub(crate) fn begin_response(&self) -> bool {
        self.word.fetch_or(BEGUN, Ordering::Relaxed) & OVERDUE == 0
    }

    #[inline]
    pub(crate) fn is_overdue(&self) -> bool {
        self.word.load(Ordering::Relaxed) & OVERDUE != 0
    }

    /// The request waits for its client, which does not count; false if it is over its time and must not wait any more.
    pub(crate) fn begin_wait(&self) -> bool {
        let mut details = self.details();
        let may_wait = !self.is_overdue();
        if may_wait {
            details.begin_wait();
        }
        may_wait
    }

    pub(crate) fn end_wait(&self) {
        self.details().end_wait();
    }

    /// A proxy says for whom the request is made.
    pub(crate) fn note_client(&self, client: Client) {
        self.details().note_client(client);
    }

    /// What the client was told of a request over its time.
    pub(crate) fn answer(&self) -> Answer {
        self.details().answer
    }

    /// The request ends. Gives whether its code was interrupted.
    #[inline]
    pub(crate) fn end(&self) -> bool {
        let word = self.word.load(Ordering::Relaxed);
        let ended = word & !FLAGS;
        let swapped = self.word.compare_exchange(
            word & !OVERDUE,
            ended,
            Ordering::Release,
            Ordering::Relaxed,
        );
        swapped.is_err() && self.end_overdue()
    }

    #[cold]
    fn end_overdue(&self) -> bool {
        let details = self.details();
        self.word.fetch_and(!FLAGS, Ordering::Release);
        details.interrupted
    }

    fn details(&self) -> MutexGuard<'_, Details> {
        self.details.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// For the watchdog.
impl Slot {
    /// The request that runs, if one does.
    pub(super) fn seen(&self, now: u64) -> Option<Seen> {
        let details = self.details();
        let word = self.word.load(Ordering::Acquire);
        (word & RUNNING != 0).then(|| details.seen(word & !FLAGS, now))
    }

    /// Looks at what runs. Gives when to look again, in milliseconds from now, and what is to be said of it now.
    ///
    /// A request over its time is marked, and if the right to its response is still to be had, its client is answered.
    pub(super) fn look(
        &self,
        now: u64,
        bounds: &Bounds,
        config: &Config,
    ) -> (Option<u64>, Option<(Finding, Seen)>) {
        let mut details = self.details();
        let word = self.word.load(Ordering::Acquire);
        if word & RUNNING == 0 {
            return (None, None);
        }
        let finding = match word & OVERDUE {
            0 => self.look_at_age(&mut details, now, bounds, config),
            _ => details.look_at_grace(now, bounds),
        };
        let finding = finding.map(|finding| (finding, details.seen(word & !FLAGS, now)));
        (details.due(now, bounds), finding)
    }

    /// Runs `interrupt` if the request still runs. It is over its time, so it does not end meanwhile.
    pub(super) fn interrupt(&self, request: u64, interrupt: impl FnOnce(Work)) {
        let mut details = self.details();
        let word = self.word.load(Ordering::Acquire);
        if word & !FLAGS == request && word & RUNNING != 0 {
            details.interrupted = true;
            interrupt(details.work);
        }
    }

    fn look_at_age(
        &self,
        details: &mut Details,
        now: u64,
        bounds: &Bounds,
        config: &Config,
    ) -> Option<Finding> {
        if !details.is_late(now, bounds) {
            return details.look_at_slow(now, bounds);
        }
        // It may have ended just now, and then is no longer to be touched.
        let begun = self.mark_overdue()?;
        Some(details.overdue(now, begun, config))
    }

    /// Gives whether the thread had begun the response; `None` if the request has ended.
    fn mark_overdue(&self) -> Option<bool> {
        let marked = self.word.fetch_update(Ordering::AcqRel, Ordering::Acquire, |word| {
            (word & RUNNING != 0).then_some(word | OVERDUE)
        });
        marked.ok().map(|word| word & BEGUN != 0)
    }
}
