//! What one thread of the engine runs, as the watchdog sees it, and who of both may answer it.

use std::os::fd::{AsRawFd, RawFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use pronghorn_proto::encode::RequestFacts;
use pronghorn_proto::head::{Method, Version};

use super::request_line::RequestLine;
use super::{Bounds, Work};
use crate::address::Peer;
use crate::event_loop::Job;
use crate::sys;

/// The word: which request it is, and how far that is.
const RUNNING: u64 = 1;
/// The thread has begun the response.
const BEGUN: u64 = 2;
/// The request is over its time. Whoever set one of these two first has the right to the response.
const OVERDUE: u64 = 4;
const FLAGS: u64 = RUNNING | BEGUN | OVERDUE;
const NEXT: u64 = 8;

/// A request that waits for its client is looked at again after so many milliseconds at the earliest.
const LOOKS_AT_WAITING: u64 = 250;

/// A thread's place.
///
/// The thread alone moves the word to the next request, under the lock, and away from `RUNNING`: without the lock as long as the request
/// is not overdue. So while the lock is held and `OVERDUE` is set, the request stays, and its socket stays open.
pub(crate) struct Slot {
    word: AtomicU64,
    details: Mutex<Details>,
}

/// What the watchdog wants to know, good while the word says `RUNNING`.
struct Details {
    work: Work,
    line: RequestLine,
    peer: Peer,
    socket: RawFd,
    facts: RequestFacts,
    /// In milliseconds of the monotonic clock, without the time it waited for its client.
    since: u64,
    /// Since when it waits for its client; 0 while it does not.
    waits_since: u64,
    /// 0 while it is not.
    overdue_at: u64,
    answer: Answer,
    told_slow: bool,
    told_stuck: bool,
    interrupted: bool,
}

/// What the watchdog said to the client of a request over its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Nothing: the thread had begun the response.
    None,
    /// All of a response with this status and so many bytes in its body.
    Whole(u16, u64),
    /// Less: the client does not read, or is gone.
    Cut,
}

/// What a look at a slot found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    Slow,
    Overdue(Answer),
    Stuck,
}

/// A request at one moment.
pub(super) struct Seen {
    /// Which of the slot's requests it is.
    pub(super) request: u64,
    pub(super) work: Work,
    /// Method, path and client.
    pub(super) label: String,
    pub(super) age: u64,
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
            details.waits_since = sys::monotonic_millis().max(1);
        }
        may_wait
    }

    pub(crate) fn end_wait(&self) {
        let mut details = self.details();
        details.since += sys::monotonic_millis().saturating_sub(details.waits_since);
        details.waits_since = 0;
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
        (word & RUNNING != 0).then(|| details.seen(word, now))
    }

    /// Looks at what runs. Gives when to look again, in milliseconds from now, and what is to be said of it now.
    ///
    /// A request over its time is marked, and if the right to its response is still to be had, `respond` answers its client.
    pub(super) fn look(
        &self,
        now: u64,
        bounds: &Bounds,
        respond: impl FnOnce(RawFd, RequestFacts) -> Answer,
    ) -> (Option<u64>, Option<(Finding, Seen)>) {
        let mut details = self.details();
        let word = self.word.load(Ordering::Acquire);
        if word & RUNNING == 0 {
            return (None, None);
        }
        let finding = match word & OVERDUE {
            0 => self.look_at_age(&mut details, now, bounds, respond),
            _ => details.look_at_grace(now, bounds),
        };
        let finding = finding.map(|finding| (finding, details.seen(word, now)));
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
        respond: impl FnOnce(RawFd, RequestFacts) -> Answer,
    ) -> Option<Finding> {
        let age = details.age(now);
        if details.waits_since == 0 && bounds.request.is_some_and(|most| age >= most) {
            // It may have ended just now, and then is no longer to be touched.
            let begun = self.mark_overdue()?;
            details.overdue_at = now.max(1);
            details.answer =
                if begun { Answer::None } else { respond(details.socket, details.facts) };
            return Some(Finding::Overdue(details.answer));
        }
        let is_slow = !details.told_slow && bounds.slow.is_some_and(|most| age >= most);
        details.told_slow |= is_slow;
        is_slow.then_some(Finding::Slow)
    }

    /// Gives whether the thread had begun the response; `None` if the request has ended.
    fn mark_overdue(&self) -> Option<bool> {
        let marked = self.word.fetch_update(Ordering::AcqRel, Ordering::Acquire, |word| {
            (word & RUNNING != 0).then_some(word | OVERDUE)
        });
        marked.ok().map(|word| word & BEGUN != 0)
    }
}

impl Details {
    fn new() -> Self {
        Details {
            work: Work { thread: sys::thread_ident(), connection: (0, 0) },
            line: RequestLine::default(),
            peer: Peer::Unix,
            socket: -1,
            facts: RequestFacts { http11: true, head: false, persistent: false },
            since: 0,
            waits_since: 0,
            overdue_at: 0,
            answer: Answer::None,
            told_slow: false,
            told_stuck: false,
            interrupted: false,
        }
    }

    fn begin(&mut self, job: &Job, now: u64) {
        let head = &job.request.head;
        self.line.note(&job.request);
        self.work.connection = (job.token.index, job.token.generation);
        self.peer = job.peer;
        self.socket = job.socket.as_raw_fd();
        self.facts.http11 = head.version == Version::Http11;
        self.facts.head = head.method == Method::Head;
        self.since = now;
        self.waits_since = 0;
        self.overdue_at = 0;
        self.answer = Answer::None;
        self.told_slow = false;
        self.told_stuck = false;
        self.interrupted = false;
    }

    /// For how long it runs, without the time it waited for its client.
    fn age(&self, now: u64) -> u64 {
        let until = if self.waits_since == 0 { now } else { self.waits_since };
        until.saturating_sub(self.since)
    }

    fn look_at_grace(&mut self, now: u64, bounds: &Bounds) -> Option<Finding> {
        let is_stuck = !self.told_stuck && now.saturating_sub(self.overdue_at) >= bounds.grace;
        self.told_stuck |= is_stuck;
        is_stuck.then_some(Finding::Stuck)
    }

    fn due(&self, now: u64, bounds: &Bounds) -> Option<u64> {
        let age = self.age(now);
        let next = if self.overdue_at > 0 {
            (!self.told_stuck).then(|| (self.overdue_at + bounds.grace).saturating_sub(now))
        } else {
            let slow = bounds.slow.filter(|_| !self.told_slow);
            let first = [bounds.request, slow].into_iter().flatten().min();
            // Its age stands still while it waits for its client.
            let least = if self.waits_since == 0 { 0 } else { LOOKS_AT_WAITING };
            first.map(|most| most.saturating_sub(age).max(least))
        };
        // Whatever begins meanwhile is not looked at too late either.
        [next, bounds.first()].into_iter().flatten().min()
    }

    fn seen(&self, word: u64, now: u64) -> Seen {
        let label = match self.peer {
            Peer::Inet(address) => format!("{} of {address}", self.line),
            Peer::Unix => format!("{} of a client on a Unix socket", self.line),
        };
        Seen { request: word & !FLAGS, work: self.work, label, age: self.age(now) }
    }
}
