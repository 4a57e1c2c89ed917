//! Requests that time has run out for: told of, cancelled, and given up if that does not help.

use std::{
    rc::{Rc, Weak},
    time::Duration,
};

use pronghorn_engine::{Late, Reason, Summary};
use pyo3::{intern, prelude::*};

use super::{await_stack::await_stack, host::Host, raw::Conversation, stage::Response};

impl Host {
    /// Time has run out for a request.
    pub(super) fn late(self: &Rc<Self>, py: Python<'_>, number: u64, late: Late) {
        let Some((call, task)) =
            self.under_way.get(py, number).and_then(|it| self.with_task(py, it))
        else {
            return;
        };
        let (http, task) = (call.http(), task.bind(py));
        let is_past = match late {
            Late::ClientGone => http.stage() == Response::Complete,
            Late::Slow | Late::Overdue => !http.is_open() && !http.summary().is_given_up(),
        };
        if is_past {
            // Its response has begun meanwhile, or is complete.
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
        if late == Late::Overdue {
            self.settle(py, self.watch(py, number));
        }
    }

    /// Looks at the task again when its grace time is over.
    fn watch(self: &Rc<Self>, py: Python<'_>, number: u64) -> PyResult<()> {
        let alarm = Bound::new(py, Alarm { host: Rc::downgrade(self), number })?;
        let delay = self.grace.as_secs_f64();
        self.event_loop(py).call_method1(intern!(py, "call_later"), (delay, alarm)).map(drop)
    }

    /// The grace time is over of a task that was cancelled.
    fn look_again(&self, py: Python<'_>, number: u64) {
        let Some((call, task)) =
            self.under_way.get(py, number).and_then(|it| self.with_task(py, it))
        else {
            return;
        };
        tell_stuck(
            call.http().summary(),
            self.grace,
            self.ask_for_replacement(Reason::Stuck),
            await_stack(task.bind(py)).trim_end(),
        );
    }
}

/// A task does not end although it was cancelled. `replaced`: another process was asked for.
fn tell_stuck(summary: &Summary, grace: Duration, replaced: bool, stack: &str) {
    let remedy = match replaced {
        true => "This process will be replaced",
        false => {
            "Nobody is there to replace this process: the task goes on until it ends by itself"
        }
    };
    log::error!(
        "{summary}: runs for {} and has not ended {} after its task was cancelled; it does not let itself be cancelled, or awaits what cannot be. {remedy}.\n{stack}",
        seconds(summary.age()),
        seconds(grace)
    );
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// What the loop calls when the grace time of a task is over.
#[pyclass(unsendable)]
struct Alarm {
    host: Weak<Host>,
    /// That of the task.
    number: u64,
}

#[pymethods]
impl Alarm {
    fn __call__(&self, py: Python<'_>) {
        if let Some(host) = self.host.upgrade() {
            host.look_again(py, self.number);
        }
    }
}
