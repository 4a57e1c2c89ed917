//! What goes out together.
//!
//! Small responses and messages are kept until those of the other requests of the same turn are there. Sent in a row, they find the
//! kernel's code in the processor's caches, and wake a client that waits for several of them once.

use std::sync::Arc;

use super::{Output, Piece, Token};
use crate::event_loop::{EventLoop, Job};
use crate::hosted::Nap;
use crate::sys;

/// What is larger goes out by itself.
pub(crate) const MOST_KEPT: usize = 4 << 10;

/// So many go out at once.
const MOST_TOGETHER: usize = 16;

/// The first of them waits at most so long for others, in microseconds, if the application lets go by then.
const LONGEST_MICROS: u64 = 1000;

/// An application that takes so long, in microseconds, is not one of many small ones: its response goes out as it ends.
const LONG_MICROS: u64 = 250;

/// A complete response on its way.
struct Unsent {
    job: Job,
    response: Vec<u8>,
}

/// What waits for others.
#[derive(Default)]
pub(crate) struct Outbox {
    unsent: Vec<Unsent>,
    /// Dialogues that go on, whose output is to be flushed.
    lines: Vec<Token>,
    /// When the first of them came, in microseconds.
    since: u64,
    /// When the host began its present step.
    step_since: u64,
    /// Who has to see that they go, if the host does not.
    stand_in: Option<Arc<Nap>>,
    /// Memory for those to come.
    spare: Vec<Vec<u8>>,
}

impl Outbox {
    /// Has `stand_in` roused when something begins to wait.
    pub(crate) fn rouse(&mut self, stand_in: Arc<Nap>) {
        self.stand_in = Some(stand_in);
    }

    /// Memory for a response.
    pub(crate) fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    /// Gives back what was got from [`buffer`](Outbox::buffer).
    pub(crate) fn reuse(&mut self, mut buffer: Vec<u8>) {
        if self.spare.len() < 2 * MOST_TOGETHER && buffer.capacity() <= 2 * MOST_KEPT {
            buffer.clear();
            self.spare.push(buffer);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.unsent.is_empty() && self.lines.is_empty()
    }

    /// The host begins a step at `now`. Gives whether what waits is to go before.
    pub(crate) fn begin_step(&mut self, now: u64) -> bool {
        self.step_since = now;
        self.unsent.len() + self.lines.len() >= MOST_TOGETHER || self.is_late(now)
    }

    /// Whether the first has waited for long enough.
    fn is_late(&self, now: u64) -> bool {
        !self.is_empty() && now >= self.since + LONGEST_MICROS
    }

    /// One more is to come, at `now`.
    fn begin(&mut self, now: u64) {
        if self.is_empty() {
            self.since = now;
            if let Some(stand_in) = &self.stand_in {
                stand_in.rouse();
            }
        }
    }
}

impl EventLoop {
    /// Keeps the complete response to a request, which goes out with others.
    pub(crate) fn keep_response(&mut self, job: Job, response: Vec<u8>) {
        let now = sys::monotonic_micros();
        self.outbox.begin(now);
        self.outbox.unsent.push(Unsent { job, response });
        if now >= self.outbox.step_since + LONG_MICROS || self.outbox.is_late(now) {
            self.send_kept();
        }
    }

    /// Keeps the output of a dialogue that goes on, which was told of that.
    pub(crate) fn keep_line(&mut self, token: Token) {
        let now = sys::monotonic_micros();
        self.outbox.begin(now);
        self.outbox.lines.push(token);
        if self.outbox.is_late(now) {
            self.send_kept();
        }
    }

    /// Sends what waits.
    pub(crate) fn send_kept(&mut self) {
        if self.outbox.is_empty() {
            return;
        }
        // What was computed in between counts against nobody's deadline.
        self.now = sys::monotonic_millis();
        let mut unsent = std::mem::take(&mut self.outbox.unsent);
        for Unsent { job, response } in unsent.drain(..) {
            self.send_one(job, response);
        }
        let mut lines = std::mem::take(&mut self.outbox.lines);
        for token in lines.drain(..) {
            self.guarded(token, |this| this.flush_kept(token));
        }
        // None came meanwhile: nothing runs here but the loop.
        (self.outbox.unsent, self.outbox.lines) = (unsent, lines);
    }

    fn send_one(&mut self, mut job: Job, response: Vec<u8>) {
        let mut output = Output::default();
        match sys::send(&job.socket, &response) {
            Ok(sent) => {
                job.request.answer.sent += sent as u64;
                if sent == response.len() {
                    job.state.response_complete();
                    self.outbox.reuse(response);
                } else {
                    output.push(Piece::Owned(response, sent));
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                output.push(Piece::Owned(response, 0));
            }
            Err(_) => job.state.response_aborted(),
        }
        self.put_back(job, output);
    }
}
