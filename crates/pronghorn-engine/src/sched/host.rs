//! The leader whose thread is the host's: it runs no requests, it finds them for the host.

use super::thread::EngineThread;
use crate::event_loop::{Called, Progress};
use crate::hosted::Found;
use crate::sys;

impl EngineThread {
    /// The thread belongs to a host, which is attached whenever it takes a turn.
    pub(crate) fn begin_hosted(&mut self) {
        self.attached = true;
        self.polled_at = sys::monotonic_millis();
        self.turn_is_open = true;
    }

    /// What the host attaches and detaches is not this thread's to detach.
    pub(crate) fn end_hosted(&mut self) {
        self.attached = false;
    }

    /// Polls, and begins a turn.
    pub(crate) fn poll_for_host(&mut self, millis: Option<u64>) -> bool {
        self.wait_for_events(millis);
        if self.events.is_empty() {
            return false;
        }
        self.begin_turn();
        true
    }

    /// Goes on with the turn until there is something for the host, or the turn is over.
    pub(crate) fn host_step(&mut self) -> (Option<Found>, Progress) {
        let mut event_loop = self.shared.event_loop();
        // One that only the bell called for is a turn as well: what was put off is due.
        let has_polled = std::mem::take(&mut self.has_polled);
        if has_polled || !event_loop.host_is_in_turn() {
            if !has_polled {
                self.polled_at = sys::monotonic_millis();
                self.turn_is_open = true;
            }
            event_loop.begin_turn(&mut self.events, self.polled_at);
        }
        event_loop.set_in_turn(true);
        if event_loop.outbox.begin_step(sys::monotonic_micros()) {
            event_loop.send_kept();
        }
        let mut found = event_loop.next_for_host();
        let mut progress = Progress::Interrupted;
        if found.is_none() {
            event_loop.send_kept();
            progress = event_loop.work(true, true);
            found = event_loop.next_for_host();
        }
        if found.is_some() || progress == Progress::Interrupted {
            return (found, Progress::Interrupted);
        }
        let called = std::mem::take(&mut event_loop.called);
        self.host_is_called |= called.host;
        drop(event_loop);
        self.end_host_turn(called);
        (None, Progress::Done)
    }

    /// What the host waits for next is a descriptor: whatever is due has to make that readable.
    fn end_host_turn(&mut self, called: Called) {
        // The stand-in may have been called in this thread's place.
        if std::mem::take(&mut self.turn_is_open) || called.needs_leader() {
            self.end_turn(called);
        }
        let most = self.longest_wait();
        let mut event_loop = self.shared.event_loop();
        event_loop.set_in_turn(false);
        let is_due = event_loop.begin_wait_by_timer(most);
        // The stand-in may have found something since this turn looked last.
        let rings = event_loop.rings_bell() || event_loop.host_has_work() || is_due;
        drop(event_loop);
        if rings {
            self.shared.ring();
        }
    }
}
