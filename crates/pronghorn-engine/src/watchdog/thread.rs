//! The watchdog's thread: it sleeps until a request may be over its time, and never waits for the interpreter.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, channel};

use super::details::{Finding, Seen};
use super::envoy::{Envoy, Errand};
use super::slot::Slot;
use super::under_way::UnderWay;
use super::{Bounds, Found, Stack, Watch, report};
use crate::control::QUIT;
use crate::metrics::Timeout;
use crate::replacement::Reason;
use crate::shared::Shared;
use crate::sys;

/// How much stack it gets: it formats text, and prints stacks.
const STACK: usize = 256 << 10;

/// Starts the watchdog, which ends with the server. What is given is closed when it has ended.
pub(crate) fn start_watchdog(shared: &Arc<Shared>) -> std::io::Result<Receiver<()>> {
    let watchdog = Watchdog {
        bounds: Bounds::from(&shared.config.deadlines),
        shared: shared.clone(),
        envoy: None,
    };
    let (ends, ended) = channel();
    let builder = std::thread::Builder::new().name("pronghorn-watch".to_owned());
    builder.stack_size(STACK).spawn(move || {
        watchdog.run();
        drop(ends);
    })?;
    Ok(ended)
}

struct Watchdog {
    shared: Arc<Shared>,
    bounds: Bounds,
    /// Started when first needed.
    envoy: Option<Envoy>,
}

/// Something to be said of a slot's request.
type Notice = (Arc<Slot>, Finding, Seen);

impl Watchdog {
    fn run(mut self) {
        // What importing and starting took of memory for program text, serving does not need.
        sys::forget_clean_pages();
        let shared = self.shared.clone();
        let watch = &shared.watch;
        while !watch.stopping.load(Ordering::Relaxed) {
            let millis = self.look(watch);
            watch.alarm.wait(millis);
            if watch.alarm.takes_stacks() {
                self.print_stacks();
            }
            if watch.alarm.quits_again() {
                self.print_stacks();
                log::logger().flush();
                sys::exit_now(QUIT);
            }
        }
        if let Some(envoy) = self.envoy.take() {
            envoy.dismiss();
        }
    }

    /// Looks at every slot and does what is due; gives when to look again, `None` if nothing runs.
    fn look(&mut self, watch: &Watch) -> Option<u64> {
        // Before the look: see `Watch::begun`.
        watch.asleep.store(self.bounds.first().is_some(), Ordering::Relaxed);
        let (due, found) = self.look_at_slots();
        if due.is_some() {
            watch.asleep.store(false, Ordering::Relaxed);
        }
        // Clients have their answers by now: from here on time may be lost.
        found.into_iter().for_each(|found| self.act_on(found));
        due.map(|due| due + sys::CLOCK_STEP_MILLIS)
    }

    fn look_at_slots(&self) -> (Option<u64>, Vec<Notice>) {
        let now = sys::monotonic_millis();
        let config = &self.shared.config;
        let slots = self.shared.watch.slots().clone();
        let (mut due, mut found) = (None, Vec::new());
        for slot in slots {
            let (again, finding) = slot.look(now, &self.bounds, config);
            due = [due, again].into_iter().flatten().min();
            found.extend(finding.map(|(finding, seen)| (slot, finding, seen)));
        }
        (due, found)
    }

    fn act_on(&mut self, (slot, finding, seen): Notice) {
        match finding {
            Finding::Slow => {
                let stacks = self.stacks(Some(seen.work.thread), None);
                report::slow(&seen, &stacks);
            }
            Finding::Overdue(answer) => {
                if let Some(metrics) = &self.shared.config.metrics {
                    metrics.timed_out(Timeout::Request);
                }
                let stacks = self.stacks(Some(seen.work.thread), Some((slot, seen.request)));
                report::overdue(&seen, answer, &stacks);
            }
            Finding::Stuck => {
                let replacement = self.shared.config.replacement.as_ref();
                report::stuck(&seen, self.bounds.grace, replacement.is_some());
                if let Some(replacement) = replacement {
                    replacement.ask(Reason::Stuck);
                }
            }
        }
    }

    fn print_stacks(&mut self) {
        if self.shared.host.get().is_some() {
            return self.print_stacks_of_host();
        }
        let now = sys::monotonic_millis();
        let slots = self.shared.watch.slots().clone();
        let running: Vec<_> = slots.iter().filter_map(|slot| slot.seen(now)).collect();
        let (queued, _) = self.shared.sched().load();
        let stacks = self.stacks(None, None);
        report::all(&running, queued, &stacks);
    }

    fn print_stacks_of_host(&mut self) {
        let found = self.send_envoy(None, None);
        let has_tasks = found.is_some();
        let found = found.unwrap_or_else(|| Found {
            stacks: self.shared.handler.stacks_at_once(None),
            tasks: Vec::new(),
        });
        let open = self.shared.event_loop().requests_under_way();
        report::all_of_host(&UnderWay::new(open, found.tasks), has_tasks, &found.stacks);
    }

    /// The stack of one thread, or of all, and then `interrupt`. If the interpreter is not to be had, the stacks are taken without
    /// it, and the interruption follows when it is.
    fn stacks(&mut self, only: Option<u64>, interrupt: Option<(Arc<Slot>, u64)>) -> Vec<Stack> {
        let found = self.send_envoy(only, interrupt);
        found.map_or_else(|| self.shared.handler.stacks_at_once(only), |found| found.stacks)
    }

    fn send_envoy(
        &mut self,
        only: Option<u64>,
        interrupt: Option<(Arc<Slot>, u64)>,
    ) -> Option<Found> {
        let handler = &self.shared.handler;
        if self.envoy.is_none() {
            let started = Envoy::start(handler.clone());
            self.envoy = started.inspect_err(|error| log::error!("{NO_ENVOY}: {error}")).ok();
        }
        self.envoy.as_mut()?.send(Errand { only, interrupt })
    }
}

const NO_ENVOY: &str = "a thread to interrupt requests by could not be started";
