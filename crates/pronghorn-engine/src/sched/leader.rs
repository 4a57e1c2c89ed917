//! The leader: polls, processes the batch, and runs requests inline while nothing runs outside it.

use std::sync::PoisonError;
use std::time::Duration;

use super::state::{Follow, Lead, Wake};
use super::thread::EngineThread;
use crate::conn::{Output, is_late, shed_late};
use crate::event_loop::{Called, Job, Progress};
use crate::handler::Handler;
use crate::metrics::Shed;
use crate::sys::{self, LastHeard};

/// A request that has waited this long in the run queue is looked at: is its client still there?
const SWEEP_MILLIS: u64 = 250;

/// How long the leader leaves events alone at the most, while requests are queued for others.
const NAP: Duration = Duration::from_millis(1);

/// After a poll with this many events the next one likely has some too, and is worth a look without letting go of the interpreter.
const BUSY: usize = 8;

/// The only thread polls at least so often between requests, however many are queued.
const GLANCE_MILLIS: u64 = 5;

impl EngineThread {
    /// Leads until leadership goes elsewhere; gives the next order as a follower, or none when the server is over.
    pub(super) fn lead(&mut self, handler: &dyn Handler) -> Option<Follow<Job>> {
        self.polled_at = sys::monotonic_millis();
        // The leader before may have left events behind.
        self.turn_is_open = true;
        let mut served = None;
        loop {
            let finished = served.is_some();
            let progress = self.see_to_events(served.take());
            match self.next_as_leader(finished) {
                Lead::Run(job) => {
                    // Where one large body came another is likely, and to lend memory for it takes a leader that is attached.
                    let uploads = job.request.has_large_body();
                    served = Some(self.serve(handler, job));
                    self.is_busy |= uploads;
                }
                Lead::Poll if progress == Progress::Interrupted => {}
                Lead::Poll => self.poll(true),
                Lead::Glance => self.poll(false),
                Lead::Demoted => return Some(self.next_as_follower(finished)),
                Lead::Stop => return None,
            }
        }
    }

    fn next_as_leader(&mut self, finished: bool) -> Lead<Job> {
        let glance = finished
            && self.shared.single()
            && self.was_away(GLANCE_MILLIS, sys::monotonic_millis());
        let mut sched = self.shared.sched();
        if glance {
            // No monitor asks for it: others may wait, or have given up.
            sched.ask_glance();
        }
        let wake =
            if self.jobs.is_empty() { Wake::Nobody } else { sched.push(self.jobs.drain(..)) };
        let next = sched.lead(self.number, finished);
        let runs = matches!(next, Lead::Run(_));
        let wake_monitor = runs && !self.shared.single() && sched.wake_monitor();
        self.runs_inline = sched.inline();
        self.is_queued = sched.oldest().is_some();
        self.shared.count_load(&sched);
        drop(sched);
        self.wake(wake);
        if wake_monitor {
            self.shared.monitor.notify_one();
        }
        next
    }

    /// Polls once. `block`: waits for events if there are none.
    fn poll(&mut self, block: bool) {
        if block && self.is_queued {
            self.nap();
        }
        if !block || (self.is_attached() && self.is_busy) {
            self.wait_for_events(Some(0));
        }
        if self.events.is_empty() && block {
            self.detach();
            let millis = self.begin_wait();
            self.wait_for_events(millis);
            if self.events.is_empty() {
                // The process may have been stopped: what came meanwhile goes before the deadlines that passed.
                self.wait_for_events(Some(0));
            }
        }
        self.is_busy = self.events.len() >= BUSY;
        self.begin_turn();
    }

    /// While followers have a queue to work off, each event would interrupt them for one request more. Waiting until the queue gets
    /// short lets events gather, so that both take turns over many.
    fn nap(&mut self) {
        self.detach();
        let shared = self.shared.clone();
        let mut sched = shared.sched();
        if sched.begin_nap() {
            let waited = shared.low.wait_timeout_while(sched, NAP, |sched| sched.naps());
            waited.unwrap_or_else(PoisonError::into_inner).0.end_nap();
        }
    }

    /// One turn of I/O for a thread that waits inside a request and is the one to see to events.
    pub(crate) fn pump(&mut self) {
        self.wait_for_events(Some(0));
        self.begin_turn();
        // All events at once: nothing is run here, so the turn ends and what is ready goes to the queue.
        self.runs_inline = false;
        self.see_to_events(None);
    }

    /// Announces a wait for events; gives for how many milliseconds it may be, `None` without end.
    pub(crate) fn begin_wait(&self) -> Option<u64> {
        let most = self.longest_wait();
        self.shared.event_loop().begin_wait(most)
    }

    pub(super) fn wait_for_events(&mut self, millis: Option<u64>) {
        if let Some(metrics) = &self.shared.config.metrics {
            metrics.polls();
        }
        if let Err(error) = self.shared.selector.wait(&mut self.events, millis) {
            log::error!("waiting for events failed: {error}; trying again");
        }
        self.has_polled();
    }

    /// Events were looked at just now.
    pub(crate) fn has_polled(&self) {
        if let Some(metrics) = &self.shared.config.metrics {
            metrics.has_polled();
        }
    }

    pub(super) fn begin_turn(&mut self) {
        let now = sys::monotonic_millis();
        self.stale = self.was_away(SWEEP_MILLIS, now);
        self.polled_at = now;
        self.turn_is_open = true;
        self.has_polled = true;
    }

    /// Puts back the connection just served and handles events: one request at a time if they run inline, else all.
    fn see_to_events(&mut self, served: Option<(Job, Output)>) -> Progress {
        let one_at_a_time = self.runs_inline && !self.stale;
        let mut event_loop = self.shared.event_loop();
        if std::mem::take(&mut self.has_polled) {
            event_loop.begin_turn(&mut self.events, self.polled_at);
        }
        if let Some((job, output)) = served {
            event_loop.put_back(job, output);
        }
        let progress = event_loop.work(one_at_a_time, self.attached);
        std::mem::swap(&mut event_loop.ready, &mut self.jobs);
        let ends = progress == Progress::Done && std::mem::take(&mut self.turn_is_open);
        let called = if ends { std::mem::take(&mut event_loop.called) } else { Called::default() };
        // While another thread waits for events this one leads no more.
        let wake_leader = event_loop.is_leader_wanted();
        drop(event_loop);
        if wake_leader {
            self.shared.waker.wake();
        }
        if ends {
            self.end_turn(called);
        }
        progress
    }

    pub(super) fn end_turn(&mut self, called: Called) {
        self.is_queued |= !self.jobs.is_empty();
        self.push_jobs();
        if called.waker {
            self.shared.waker.clear();
        }
        if called.orders {
            self.see_to_orders();
        }
        self.sweep_if_stale();
        if let Some(witness) = &self.shared.witness {
            witness.alive(self.polled_at);
        }
        self.see_to_drain();
    }

    /// Queued requests are looked at now and then, so one whose client has gone is not run.
    pub(super) fn longest_wait(&self) -> Option<u64> {
        let sweep = self.is_queued.then_some(SWEEP_MILLIS);
        let now = sys::monotonic_millis();
        let pulse = self.shared.witness.as_ref().and_then(|witness| witness.wait(now));
        [sweep, pulse, self.drain_wait()].into_iter().flatten().min()
    }

    /// Whether this thread has not polled for longer than `millis`.
    fn was_away(&self, millis: u64, now: u64) -> bool {
        now.saturating_sub(self.polled_at) > millis
    }

    fn sweep_if_stale(&mut self) {
        let was_away = std::mem::take(&mut self.stale);
        if !was_away && !self.is_queued {
            return;
        }
        let now = self.polled_at;
        let mut sched = self.shared.sched();
        let age = sched.oldest().map_or(0, |job| now.saturating_sub(job.request.queued_at));
        let waits = age > SWEEP_MILLIS && now.saturating_sub(self.swept_at) > SWEEP_MILLIS;
        let config = &self.shared.config;
        let late = sched.oldest().is_some_and(|job| is_late(config, job, now));
        if !was_away && !waits && !late {
            return;
        }
        self.swept_at = now;
        let out = sched.sweep(|job| is_late(config, job, now) || client_gave_up(job, now));
        self.shared.count_load(&sched);
        drop(sched);
        out.into_iter().for_each(|job| self.take_off(job, now));
    }

    /// A queued request is not run: its client has gone, or it has waited too long.
    fn take_off(&mut self, mut job: Job, now: u64) {
        if client_gave_up(&job, now) {
            log::debug!("a queued request is dropped: its client has gone");
            if let Some(metrics) = &self.shared.config.metrics {
                metrics.shed(Shed::ClientGone);
            }
            return self.change_loop(|event_loop| event_loop.abandon(job));
        }
        let output = shed_late(&self.shared.config, &mut job, self.shared.is_draining());
        self.change_loop(|event_loop| event_loop.put_back(job, output));
    }
}

/// Whether the client of a queued request is gone. A FIN alone may be a half-close, which comes with the request; one that came
/// later is a client that gave up.
fn client_gave_up(job: &Job, now: u64) -> bool {
    match sys::hung_up(&job.socket) {
        None => false,
        Some(true) => true,
        Some(false) => {
            sys::last_heard(&job.socket).is_some_and(|heard| fin_came_late(&heard, job, now))
        }
    }
}

fn fin_came_late(heard: &LastHeard, job: &Job, now: u64) -> bool {
    // A request pipelined before the latest response: what was heard last acknowledges that response.
    let was_pipelined = now.saturating_sub(sys::millis(heard.data)) <= job.request.answered_at;
    !was_pipelined && sys::millis(heard.data.saturating_sub(heard.acknowledgement)) > SWEEP_MILLIS
}
