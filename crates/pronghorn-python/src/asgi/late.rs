//! Requests that time has run out for: told of, and cancelled.

use std::time::Duration;

use pronghorn_engine::Late;
use pyo3::{intern, prelude::*};

use super::{
    await_stack::await_stack,
    host::{Host, Slot},
    raw::Conversation,
};

impl Host {
    /// Time has run out for a request.
    pub(super) fn late(&self, py: Python<'_>, slot: Slot, late: Late) {
        let Some((call, task)) = self.find(py, slot) else { return };
        let (http, task) = (call.http(), task.bind(py));
        if late != Late::ClientGone && !http.is_open() {
            // Its response has begun meanwhile.
            return;
        }
        let (summary, stack) = (http.summary(), await_stack(task));
        let (age, stack) = (seconds(summary.age()), stack.trim_end());
        match late {
            Late::Slow => {
                return log::warn!("{summary}: runs for {age}, longer than slow-request.\n{stack}");
            }
            Late::Overdue => {
                http.fail_late();
                log::error!(
                    "{summary}: runs for {age}, longer than request-timeout allows; its task is cancelled, its client got 504.\n{stack}"
                );
            }
            Late::ClientGone => {
                http.note_gone();
                log::info!(
                    "{summary}: goes on without its client for longer than disconnect-grace; its task is cancelled.\n{stack}"
                );
            }
        }
        let cancelled = task.call_method0(intern!(py, "cancel"));
        self.settle(py, cancelled.map(drop));
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}
