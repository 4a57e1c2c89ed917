//! The leader: polls, processes the batch, and runs requests inline while nothing runs outside it.

use std::time::Duration;

use super::state::{Follow, Lead};
use super::thread::EngineThread;
use crate::event_loop::{Job, SIGNALS, WAKER};
use crate::sys::{self, LastHeard};

/// A request that has waited this long in the run queue is looked at: is its client still there?
const SWEEP_MILLIS: u64 = 250;

impl EngineThread {
    /// Leads until leadership goes elsewhere; gives the next order as a follower, or none when the server is over.
    pub(super) fn lead(&mut self) -> Option<Follow<Job>> {
        let mut finished = false;
        self.polled_at = sys::monotonic_millis();
        loop {
            match self.next_as_leader(finished) {
                Lead::Run(job) => {
                    self.run(job);
                    finished = true;
                    continue;
                }
                Lead::Poll => self.poll(true),
                Lead::Glance => self.poll(false),
                Lead::Demoted => return Some(self.next_as_follower(finished)),
                Lead::Stop => return None,
            }
            finished = false;
        }
    }

    fn next_as_leader(&mut self, finished: bool) -> Lead<Job> {
        let glance = finished && self.shared.single() && self.was_away(sys::monotonic_millis());
        let mut sched = self.shared.sched();
        if glance {
            // No monitor asks for it, and clients may have given up meanwhile.
            sched.ask_glance();
        }
        let next = sched.lead(self.number, finished);
        if matches!(next, Lead::Run(_)) && !self.shared.single() && sched.wake_monitor() {
            drop(sched);
            self.shared.monitor.notify_one();
        }
        next
    }

    /// Polls once and processes what comes. `block`: waits for events if there are none.
    fn poll(&mut self, block: bool) {
        self.events.clear();
        if self.is_attached() || !block {
            self.wait_for_events(Some(0));
        }
        if self.events.is_empty() && block {
            self.detach();
            let millis = self.begin_wait();
            self.wait_for_events(millis);
        }
        self.see_to_events();
    }

    /// One turn of I/O for a thread that waits inside a request and is the only one.
    pub(crate) fn pump(&mut self) {
        self.events.clear();
        self.wait_for_events(Some(0));
        self.see_to_events();
    }

    /// Announces a wait for events; gives for how many milliseconds it may be, `None` without end.
    pub(crate) fn begin_wait(&self) -> Option<u64> {
        let most = self.longest_wait();
        self.shared.event_loop().begin_wait(most)
    }

    fn see_to_events(&mut self) {
        self.process_batch();
        self.sweep_if_stale();
        self.see_to_drain();
    }

    fn wait_for_events(&mut self, millis: Option<u64>) {
        if let Err(error) = self.shared.selector.wait(&mut self.events, millis) {
            log::error!("waiting for events failed: {error}; trying again");
        }
    }

    fn process_batch(&mut self) {
        let attached = self.is_attached();
        let shared = self.shared.clone();
        let mut event_loop = shared.event_loop();
        event_loop.turn(&self.events, attached);
        std::mem::swap(&mut event_loop.ready, &mut self.jobs);
        drop(event_loop);
        if !self.jobs.is_empty() {
            self.push_jobs();
        }
        if self.events.iter().any(|event| event.token == WAKER) {
            self.shared.waker.clear();
        }
        if self.events.iter().any(|event| event.token == SIGNALS) {
            self.see_to_signals();
        }
    }

    /// Queued requests are looked at now and then, so one whose client has gone is not run.
    fn longest_wait(&self) -> Option<u64> {
        let queued = self.shared.sched().load().0 > 0;
        let sweep = queued.then_some(SWEEP_MILLIS);
        [sweep, self.drain_wait()].into_iter().flatten().min()
    }

    /// Whether events were not looked at for so long that clients may have given up.
    fn was_away(&self, now: u64) -> bool {
        now.saturating_sub(self.polled_at) > SWEEP_MILLIS
    }

    fn sweep_if_stale(&mut self) {
        let now = sys::monotonic_millis();
        let was_away = self.was_away(now);
        self.polled_at = now;
        let mut sched = self.shared.sched();
        let age = sched.oldest().map_or(0, |job| now.saturating_sub(job.request.queued_at));
        let waits = age > SWEEP_MILLIS && now.saturating_sub(self.swept_at) > SWEEP_MILLIS;
        if !was_away && !waits {
            return;
        }
        self.swept_at = now;
        let gone = sched.sweep(|job| client_gave_up(job, now));
        drop(sched);
        for job in gone {
            log::debug!("a queued request is dropped: its client has gone");
            self.put_back(|event_loop| event_loop.abandon(job));
        }
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
    let was_pipelined = now.saturating_sub(millis(heard.data)) <= job.request.answered_at;
    !was_pipelined && millis(heard.data.saturating_sub(heard.acknowledgement)) > SWEEP_MILLIS
}

fn millis(time: Duration) -> u64 {
    time.as_millis() as u64
}
