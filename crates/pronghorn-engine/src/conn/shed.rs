//! Requests that are answered 503 without running, so that those that run are answered in time.

use std::time::Duration;

use pronghorn_proto::encode::{Refusal, RequestFacts, refusal_response};

use super::{Output, Piece};
use crate::config::Config;
use crate::date::date_now;
use crate::event_loop::{EventLoop, Job};
use crate::metrics::Shed;
use crate::untold::Untold;

/// At most this many requests are shed in one turn, so that a client that pipelines without end has no turn without end.
const SHED_A_TURN: usize = 128;

impl EventLoop {
    /// Whether as many requests run and wait as may.
    pub(crate) fn is_crowded(&self) -> bool {
        self.config.max_concurrency.is_some_and(|most| self.in_flight >= most)
    }

    /// Answers those that came while it was crowded. What comes behind them on their connections may be shed as well.
    pub(crate) fn shed_excess(&mut self) {
        for _ in 0..SHED_A_TURN {
            let Some(mut job) = self.excess.pop_front() else { return };
            let output = shed(&self.config, &mut job, self.draining, Shed::MaxConcurrency);
            self.guarded(job.token, |this| this.finish(job, output));
        }
        self.wake_leader |= !self.excess.is_empty();
    }
}

/// Whether a request has waited longer in the run queue than it may.
pub(crate) fn is_late(config: &Config, job: &Job, now: u64) -> bool {
    let waited = now.saturating_sub(job.request.queued_at);
    waited > 0 && config.deadlines.queue.is_some_and(|most| Duration::from_millis(waited) > most)
}

/// The answer to a request that has waited too long, for [`EventLoop::put_back`].
pub(crate) fn shed_late(config: &Config, job: &mut Job, draining: bool) -> Output {
    shed(config, job, draining, Shed::QueueTimeout)
}

/// Everything that is shed comes by here.
fn shed(config: &Config, job: &mut Job, draining: bool, why: Shed) -> Output {
    let refusal = if why == Shed::QueueTimeout { &LATE } else { &CROWDED };
    let facts = RequestFacts::of(&job.request.head, job.state.may_persist() && !draining);
    let mut response = Vec::new();
    let date = date_now();
    let server = config.server_fields(&date, &job.request);
    let bytes = refusal_response(&mut response, refusal, facts, &server);
    config.log_own_answer(&job.request, (job.peer, job.listener), refusal.status, bytes);
    tell(why);
    if let Some(metrics) = &config.metrics {
        metrics.shed(why);
        job.request.answer.status = refusal.status;
    }
    job.state.response_started(facts.persistent);
    let mut output = Output::default();
    output.push(Piece::Owned(response, 0));
    output
}

/// Tells of it at once, then every ten seconds at most: when it happens, it happens to many.
fn tell(why: Shed) {
    static LATE_ONES: Untold = Untold::new(TELL_EVERY);
    static EXCESS: Untold = Untold::new(TELL_EVERY);
    let (untold, reason) = match why {
        Shed::QueueTimeout => (&LATE_ONES, "no thread was free for them within queue-timeout"),
        _ => (&EXCESS, "max-concurrency others ran or waited"),
    };
    if let Some(count) = untold.add_one() {
        log::warn!("requests answered 503 without running, as {reason}: {count}");
    }
}

/// Milliseconds between two messages of one kind.
const TELL_EVERY: u64 = 10_000;

const CROWDED: Refusal = Refusal {
    status: 503,
    message: "The server has as many requests as it may; try again in a moment.",
    fields: RETRY,
};

const LATE: Refusal = Refusal {
    status: 503,
    message: "The server could not begin with this request in time; try again in a moment.",
    fields: RETRY,
};

const RETRY: &[(&str, &str)] = &[("Retry-After", "1")];
