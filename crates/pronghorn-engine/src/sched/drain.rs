//! Ending: orders, the drain, and what happens when it takes too long.

use std::sync::MutexGuard;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::thread::EngineThread;
use crate::config::Config;
use crate::control::{Given, Order};
use crate::event_loop::EventLoop;
use crate::sys;

/// The exit code of a process whose drain took longer than it may.
const OVERDUE: i32 = 1;

/// How long requests in flight may take when the server is told to stop at once.
pub const QUICK: Duration = Duration::from_secs(1);

impl EngineThread {
    pub(super) fn see_to_orders(&mut self) {
        for Given { order, by } in self.shared.orders.take() {
            match order {
                Order::Drain => self.drain_as_ordered(by),
                Order::Stop => {
                    log::info!("{by}: finishing what ends within {} s", QUICK.as_secs());
                    self.shared.stop();
                }
                Order::Reopen => self.shared.reopen_logs(),
                Order::FailHealth => self.shared.health.fail(),
                Order::EndListeners => self.shared.event_loop().ends_listeners = true,
            }
        }
    }

    /// Where there is a delay, balancers are told first. Who orders twice does not wait.
    fn drain_as_ordered(&self, by: &str) {
        let delay = self.shared.config.deadlines.drain_delay;
        if delay.is_zero() || self.shared.drain_at.load(Ordering::Relaxed) > 0 {
            log::info!("{by}: finishing the requests in flight");
            return self.shared.drain();
        }
        log::info!(
            "{by}: the health check fails from now on; the drain begins in {} s",
            delay.as_secs_f64()
        );
        self.shared.health.fail();
        let at = sys::monotonic_millis().saturating_add(sys::millis(delay));
        self.shared.drain_at.store(at, Ordering::Relaxed);
    }

    /// For how many milliseconds the drain is put off; none if it is not.
    fn put_off(&self) -> Option<u64> {
        let at = self.shared.drain_at.load(Ordering::Relaxed);
        (at > 0).then(|| at.saturating_sub(sys::monotonic_millis()))
    }

    /// Starts a drain that was asked for, and ends the server when it is done.
    pub(super) fn see_to_drain(&mut self) {
        if !self.shared.is_draining() {
            if self.put_off() != Some(0) {
                return;
            }
            self.shared.drain();
        }
        if let Some(witness) = &self.shared.witness {
            witness.draining();
        }
        let hurried = self.shared.hurried.load(Ordering::Relaxed);
        self.change_loop(|event_loop| event_loop.begin_drain(hurried.then_some(QUICK)));
        let mut event_loop = self.shared.event_loop();
        let overdue = event_loop.now >= event_loop.drain_until;
        if overdue {
            event_loop.close_quietly();
        }
        let overdue = overdue && self.shared.orders.own_the_process();
        if overdue && self.shared.host.get().is_some() {
            return self.end_host(event_loop);
        }
        let (queued, outside) = self.shared.sched().load();
        if queued == 0 && outside == 0 && event_loop.conns.len() == 0 {
            drop(event_loop);
            return self.stop_all();
        }
        if overdue {
            tell_cut(&event_loop, hurried);
            cut(&event_loop.config, hurried);
        }
    }

    /// The host has tasks to end, and an application to shut down, before the process ends.
    fn end_host(&self, event_loop: MutexGuard<'_, EventLoop>) {
        self.shared.is_overdue.store(true, Ordering::Relaxed);
        if event_loop.conns.len() > 0 && !self.shared.is_cut.swap(true, Ordering::Relaxed) {
            tell_cut(&event_loop, self.shared.hurried.load(Ordering::Relaxed));
        }
        drop(event_loop);
        self.stop_all();
    }

    /// How long a wait may be so that the beginning of a drain that is put off, and the end of one that has begun, is noticed.
    pub(super) fn drain_wait(&self) -> Option<u64> {
        if !self.shared.is_draining() {
            return self.put_off();
        }
        let event_loop = self.shared.event_loop();
        Some(event_loop.drain_until.saturating_sub(sys::monotonic_millis()).clamp(1, 1000))
    }

    fn stop_all(&self) {
        self.shared.sched().stop();
        self.shared.followers.notify_all();
        self.shared.monitor.notify_all();
    }
}

fn tell_cut(event_loop: &EventLoop, hurried: bool) {
    let busy = event_loop.conns.len();
    if hurried {
        log::warn!("stopped at once; connections still busy, which are cut: {busy}");
    } else {
        log::error!("the graceful timeout is over; connections still busy, which are cut: {busy}");
    }
}

/// Ends the process with what is still in flight.
pub(crate) fn cut(config: &Config, hurried: bool) -> ! {
    config.close_logs();
    log::logger().flush();
    // Who stops a server at once has been told, and wants it so.
    sys::exit_now(if hurried { 0 } else { OVERDUE })
}
