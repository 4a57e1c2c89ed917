//! The request in a slot: what is told of it, when it is due, and the answer to its client in the place of its thread.

use std::os::fd::{AsRawFd, RawFd};

use pronghorn_proto::encode::{Refusal, RequestFacts, error_response};

use super::label::Label;
use super::{Bounds, Work};
use crate::client::Client;
use crate::config::Config;
use crate::date::date_now;
use crate::event_loop::Job;
use crate::sys;

/// What the watchdog wants to know of a request, good while it runs.
pub(super) struct Details {
    pub(super) work: Work,
    label: Label,
    /// Its identifier; empty without one.
    id: Vec<u8>,
    socket: RawFd,
    facts: RequestFacts,
    /// In milliseconds of the monotonic clock, without the time it waited for its client.
    since: u64,
    /// Since when it waits for its client; 0 while it does not.
    waits_since: u64,
    /// Since when it is over its time; 0 while it is not.
    overdue_at: u64,
    pub(super) answer: Answer,
    told_slow: bool,
    told_stuck: bool,
    pub(super) interrupted: bool,
}

/// What the watchdog said to the client of a request over its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// Nothing: the thread had begun the response.
    None,
    /// All of a response: its status, the bytes of its body, and of all of it.
    Whole { status: u16, body: u64, sent: u64 },
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

impl Details {
    /// For the calling thread.
    pub(super) fn new() -> Self {
        Details {
            work: Work { thread: sys::thread_ident(), connection: (0, 0) },
            label: Label::default(),
            id: Vec::new(),
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

    pub(super) fn begin(&mut self, job: &Job, now: u64) {
        let head = &job.request.head;
        self.label.note(&job.request, job.peer.into(), false);
        self.work.connection = (job.token.index, job.token.generation);
        self.id.clear();
        if let Some(id) = job.request.id() {
            self.id.extend_from_slice(id);
        }
        self.socket = job.socket.as_raw_fd();
        self.facts = RequestFacts::of(head, false);
        self.since = now;
        self.waits_since = 0;
        self.overdue_at = 0;
        self.answer = Answer::None;
        self.told_slow = false;
        self.told_stuck = false;
        self.interrupted = false;
    }

    /// A proxy says for whom it is made.
    pub(super) fn note_client(&mut self, client: Client) {
        self.label.note_client(client);
    }

    pub(super) fn begin_wait(&mut self) {
        self.waits_since = sys::monotonic_millis().max(1);
    }

    pub(super) fn end_wait(&mut self) {
        self.since += sys::monotonic_millis().saturating_sub(self.waits_since);
        self.waits_since = 0;
    }

    /// Whether it runs for longer than it may.
    pub(super) fn is_late(&self, now: u64, bounds: &Bounds) -> bool {
        self.waits_since == 0 && bounds.request.is_some_and(|most| self.age(now) >= most)
    }

    /// It is over its time. `begun`: its thread has begun the response; else its client is answered here.
    pub(super) fn overdue(&mut self, now: u64, begun: bool, config: &Config) -> Finding {
        self.overdue_at = now.max(1);
        self.answer = if begun { Answer::None } else { self.respond(config) };
        Finding::Overdue(self.answer)
    }

    pub(super) fn look_at_slow(&mut self, now: u64, bounds: &Bounds) -> Option<Finding> {
        let is_slow = !self.told_slow && bounds.slow.is_some_and(|most| self.age(now) >= most);
        self.told_slow |= is_slow;
        is_slow.then_some(Finding::Slow)
    }

    /// For how long it runs, without the time it waited for its client.
    fn age(&self, now: u64) -> u64 {
        let until = if self.waits_since == 0 { now } else { self.waits_since };
        until.saturating_sub(self.since)
    }

    pub(super) fn look_at_grace(&mut self, now: u64, bounds: &Bounds) -> Option<Finding> {
        let is_stuck = !self.told_stuck && now.saturating_sub(self.overdue_at) >= bounds.grace;
        self.told_stuck |= is_stuck;
        is_stuck.then_some(Finding::Stuck)
    }

    /// In how many milliseconds to look again.
    pub(super) fn due(&self, now: u64, bounds: &Bounds) -> Option<u64> {
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

    pub(super) fn seen(&self, request: u64, now: u64) -> Seen {
        Seen { request, work: self.work, label: self.label.to_string(), age: self.age(now) }
    }

    /// Answers the client in the place of the thread, which has not begun to and cannot any more.
    fn respond(&self, config: &Config) -> Answer {
        let mut response = Vec::new();
        let date = date_now();
        let server =
            config.server_fields_for(&date, Some(&*self.id).filter(|id: &&[u8]| !id.is_empty()));
        let body = error_response(&mut response, &LATE, self.facts, &server);
        match sys::send_by_number(self.socket, &response) {
            Ok(sent) if sent == response.len() => {
                sys::shutdown_write_by_number(self.socket);
                Answer::Whole { status: LATE.status, body, sent: sent as u64 }
            }
            _ => Answer::Cut,
        }
    }
}

/// A request that waits for its client is looked at again after so many milliseconds at the earliest.
const LOOKS_AT_WAITING: u64 = 250;

/// What a client gets of an application that took too long.
pub(crate) const LATE: Refusal = Refusal {
    status: 504,
    message: "The application did not answer this request in time; the server's log says where it was.",
    fields: &[],
};
