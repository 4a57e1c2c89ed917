//! A host that is stuck in its application: who is told of it, and when.

use std::sync::Arc;
use std::time::Duration;

use log::Level;

use crate::dialogue::Summary;
use crate::replacement::Reason;
use crate::shared::Shared;
use crate::sys;
use crate::watchdog::{Envoy, Errand};

/// How much stack the thread gets that tells of it.
const STACK: usize = 256 << 10;

/// One time that the host is stuck.
pub(super) struct Blocked {
    since: u64,
    told_slow: bool,
    told_overdue: bool,
    told_stuck: bool,
}

impl Blocked {
    pub(super) fn new() -> Self {
        Blocked {
            since: sys::monotonic_millis(),
            told_slow: false,
            told_overdue: false,
            told_stuck: false,
        }
    }

    /// Tells of what is due by now. `a_request_is_slow`: one has waited for its answer for longer than is usual. `given_up`: those that
    /// were answered in the host's place.
    pub(super) fn look(
        &mut self,
        shared: &Arc<Shared>,
        a_request_is_slow: bool,
        given_up: &[Arc<Summary>],
    ) {
        let age = Duration::from_millis(sys::monotonic_millis().saturating_sub(self.since));
        let deadlines = &shared.config.deadlines;
        let is_slow = deadlines.slow_request.is_some_and(|slow| a_request_is_slow || age >= slow);
        if is_slow && !std::mem::replace(&mut self.told_slow, true) {
            tell(shared, age.max(deadlines.slow_request.unwrap_or_default()));
        }
        given_up.iter().for_each(|request| tell_given_up(request));
        if !given_up.is_empty() && !std::mem::replace(&mut self.told_overdue, true) {
            let age = age.max(deadlines.request.unwrap_or_default());
            report(shared, Level::Error, text(age, "request-timeout"));
        }
        let most = deadlines.request.map(|most| most + deadlines.request_grace);
        if most.is_some_and(|most| age >= most) && !std::mem::replace(&mut self.told_stuck, true) {
            give_up(shared, age);
        }
    }

    /// How long to wait until the next look, at the most.
    pub(super) fn wait(&self, shared: &Shared) -> Option<Duration> {
        let deadlines = &shared.config.deadlines;
        let slow = deadlines.slow_request.filter(|_| !self.told_slow);
        let stuck = deadlines.request.filter(|_| !self.told_stuck);
        let stuck = stuck.map(|most| most + deadlines.request_grace);
        let age = Duration::from_millis(sys::monotonic_millis().saturating_sub(self.since));
        [slow, stuck].into_iter().flatten().min().map(|due| due.saturating_sub(age))
    }
}

fn tell(shared: &Arc<Shared>, age: Duration) {
    report(shared, Level::Warn, text(age, "slow-request"));
}

fn text(age: Duration, setting: &str) -> String {
    format!(
        "the event loop is blocked for {:.1} s, longer than {setting}: no other request goes on meanwhile. \
         Await, or use a thread, where the application waits or computes.",
        age.as_secs_f64()
    )
}

fn tell_given_up(request: &Summary) {
    log::error!(
        "{request}: runs for {:.1} s, longer than request-timeout allows; the event loop is blocked, its client got 504.",
        request.age().as_secs_f64()
    );
}

/// Says so, and what the event loop is doing. To see that takes the interpreter's lock, so another thread does it.
fn report(shared: &Arc<Shared>, level: Level, text: String) {
    let (shared, told) = (shared.clone(), text.clone());
    let builder = std::thread::Builder::new().name("pronghorn-blocked".to_owned());
    let started = builder.stack_size(STACK).spawn(move || {
        let stack = stack(&shared);
        log::log!(level, "{told}\n{}", stack.trim_end());
    });
    if let Err(error) = started {
        log::log!(level, "{text} To see where, a thread was to start: {error}");
    }
}

fn stack(shared: &Shared) -> String {
    let Some(host) = shared.host.get() else { return String::new() };
    let only = Some(host.thread);
    let stacks = match Envoy::start(shared.handler.clone()) {
        Ok(mut envoy) => {
            let found = envoy.send(Errand { only, interrupt: None });
            found.map_or_else(|| shared.handler.stacks_at_once(only), |found| found.stacks)
        }
        Err(_) => shared.handler.stacks_at_once(only),
    };
    stacks.into_iter().map(|stack| stack.text).collect()
}

fn give_up(shared: &Arc<Shared>, age: Duration) {
    let why = format!(
        "the event loop is blocked for {:.1} s, longer than request-timeout and its grace allow.",
        age.as_secs_f64()
    );
    match &shared.config.replacement {
        Some(replacement) => {
            report(shared, Level::Error, format!("{why} This process will be replaced."));
            replacement.ask(Reason::Stuck);
        }
        None => {
            let alone = "Nobody is there to replace this process: it serves nobody until the application lets go.";
            report(shared, Level::Error, format!("{why} {alone}"));
        }
    }
}
