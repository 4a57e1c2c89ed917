//! What the log says of a request for as long as its application runs.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use pronghorn_proto::encode::RequestFacts;

use crate::client::Client;
use crate::conn::Phase;
use crate::event_loop::EventLoop;
use crate::request::Request;
use crate::sys;
use crate::watchdog::{Label, RequestLine};

/// A request in brief, for any thread: method, path and client (as it is displayed), and since when it is under way.
pub struct Summary {
    /// Names it among all of the process.
    number: u64,
    label: Label,
    /// In milliseconds of the monotonic clock.
    since: u64,
    stage: AtomicU8,
    facts: RequestFacts,
    /// The request's identifier, if it has one.
    id: Option<Box<[u8]>>,
    /// Its client was answered in the place of the application, with so many bytes of a body.
    given_up: OnceLock<u64>,
    /// The host was told that it was long enough without its client.
    grace_is_over: AtomicBool,
}

/// How far a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    /// The application does not have it yet.
    Waiting,
    /// Its response has not begun.
    Running,
    Responding,
    /// Its response has ended; the task of the application may go on.
    Outlasting,
}

impl Summary {
    /// `of_websocket`: it asks for one.
    pub(crate) fn new(
        number: u64,
        request: &Request,
        client: Client,
        of_websocket: bool,
        now: u64,
    ) -> Self {
        let mut label = Label::default();
        label.note(request, client, of_websocket);
        Summary {
            number,
            label,
            since: now,
            stage: AtomicU8::new(Stage::Waiting as u8),
            facts: RequestFacts::of(&request.head, false),
            id: request.id().map(Box::from),
            given_up: OnceLock::new(),
            grace_is_over: AtomicBool::new(false),
        }
    }

    /// Names the request: no other of this process has the same number.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// For how long it is under way.
    pub fn age(&self) -> Duration {
        Duration::from_millis(sys::monotonic_millis().saturating_sub(self.since))
    }

    /// In this order requests are told of: first those whose response has not begun, and of each kind the oldest first.
    pub fn rank(&self) -> (bool, u64) {
        (self.stage() > Stage::Running, self.since)
    }

    /// Whether its client was answered in the place of the application, which is over its time.
    pub fn is_given_up(&self) -> bool {
        self.given_up().is_some()
    }

    /// How many bytes of a body that answer has.
    pub(crate) fn given_up(&self) -> Option<u64> {
        self.given_up.get().copied()
    }

    pub(super) fn note_given_up(&self, body: u64) {
        // Once, as its deadline passes once.
        let _ = self.given_up.set(body);
    }

    pub(super) fn note_grace_is_over(&self) {
        self.grace_is_over.store(true, Ordering::Relaxed);
    }

    /// Whether its application may still be given time to go on without its client: once, and not if it is cancelled anyway.
    pub(super) fn may_have_grace(&self) -> bool {
        !self.grace_is_over.load(Ordering::Relaxed) && !self.is_given_up()
    }

    pub(super) fn facts(&self) -> RequestFacts {
        self.facts
    }

    pub(super) fn id(&self) -> Option<&[u8]> {
        self.id.as_deref()
    }

    /// Method and path; of a WebSocket that it is one, and the path.
    pub(crate) fn line(&self) -> &RequestLine {
        self.label.line()
    }

    pub(crate) fn stage(&self) -> Stage {
        const ALL: [Stage; 4] =
            [Stage::Waiting, Stage::Running, Stage::Responding, Stage::Outlasting];
        ALL[usize::from(self.stage.load(Ordering::Relaxed))]
    }

    pub(crate) fn note(&self, stage: Stage) {
        self.stage.store(stage as u8, Ordering::Relaxed);
    }
}

impl EventLoop {
    /// The requests of applications whose response has not ended.
    pub(crate) fn requests_under_way(&mut self) -> Vec<Arc<Summary>> {
        let tokens = self.conns.tokens(|conn| matches!(conn.phase, Phase::Dialogue(_)));
        let summary = |token| Some(self.conns.talk(token)?.line.summary.clone());
        tokens.into_iter().filter_map(summary).collect()
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.label.fmt(f)
    }
}
