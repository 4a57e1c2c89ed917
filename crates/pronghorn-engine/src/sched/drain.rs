//! Ending: signals, the drain, and what happens when it takes too long.

use std::sync::atomic::Ordering;

use super::thread::EngineThread;
use crate::event_loop::EventLoop;
use crate::sys;

/// The exit code of a process whose drain took longer than it may.
const OVERDUE: i32 = 1;

impl EngineThread {
    pub(super) fn see_to_signals(&mut self) {
        let Some(signals) = &self.shared.signals else { return };
        for signal in signals.take() {
            self.shared.drain();
            log::info!("{}: finishing the requests in flight; SIGINT stops at once", signal.name());
        }
    }

    /// Starts a drain that was asked for, and ends the server when it is done.
    pub(super) fn see_to_drain(&mut self) {
        if !self.shared.draining.load(Ordering::Relaxed) {
            return;
        }
        self.change_loop(EventLoop::begin_drain);
        let event_loop = self.shared.event_loop();
        let overdue = event_loop.now >= event_loop.drain_until;
        let (queued, outside) = self.shared.sched().load();
        if queued == 0 && outside == 0 && event_loop.conns.len() == 0 {
            drop(event_loop);
            return self.stop_all();
        }
        if overdue && self.shared.signals.is_some() {
            log::error!(
                "the graceful timeout is over; connections still busy, which are cut: {}",
                event_loop.conns.len()
            );
            log::logger().flush();
            sys::exit_now(OVERDUE);
        }
    }

    /// While draining: how long a wait may be so that the end of the drain is noticed.
    pub(super) fn drain_wait(&self) -> Option<u64> {
        self.shared.is_draining().then(|| {
            let event_loop = self.shared.event_loop();
            event_loop.drain_until.saturating_sub(sys::monotonic_millis()).clamp(1, 1000)
        })
    }

    fn stop_all(&self) {
        self.shared.sched().stop();
        self.shared.followers.notify_all();
        self.shared.monitor.notify_all();
    }
}
