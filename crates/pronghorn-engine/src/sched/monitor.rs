//! The monitor: takes leadership from a leader that is stuck in a call.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use super::state::ThreadNumber;
use super::thread::carry_out;
use crate::shared::Shared;

/// After this many looks at a leader that was in no call the monitor sleeps until one begins.
const IDLE_LOOKS: u32 = 50;

/// Starts the monitor thread; it ends with the server.
pub(crate) fn start_monitor(shared: &Arc<Shared>) -> std::io::Result<()> {
    let theirs = shared.clone();
    let builder =
        std::thread::Builder::new().name("pronghorn-monitor".to_owned()).stack_size(64 << 10);
    builder.spawn(move || Monitor::new(theirs).run()).map(drop)
}

struct Monitor {
    shared: Arc<Shared>,
    /// The call the leader was in at the latest look, and since when it is known to be.
    seen: Option<(ThreadNumber, u64, Instant)>,
    polls: u64,
    idle_looks: u32,
}

impl Monitor {
    fn new(shared: Arc<Shared>) -> Self {
        Monitor { shared, seen: None, polls: 0, idle_looks: 0 }
    }

    fn run(mut self) {
        let pause = self.shared.config.promote_after.max(Duration::from_micros(100));
        while self.sleep_while_idle() {
            std::thread::sleep(pause);
            self.look();
        }
    }

    /// Waits until there is something to watch; false when the server is over.
    fn sleep_while_idle(&mut self) -> bool {
        let shared = self.shared.clone();
        let mut sched = shared.sched();
        if self.idle_looks >= IDLE_LOOKS {
            self.idle_looks = 0;
            sched.monitor_sleeps();
        }
        while sched.monitor_is_asleep() && !sched.stopping() {
            sched = shared.monitor.wait(sched).unwrap_or_else(PoisonError::into_inner);
        }
        !sched.stopping()
    }

    fn look(&mut self) {
        let shared = self.shared.clone();
        let mut sched = shared.sched();
        let (leader, call, polls) = sched.leader_call();
        let (Some(leader), Some(call)) = (leader, call) else {
            self.seen = None;
            self.idle_looks += 1;
            return;
        };
        self.idle_looks = 0;
        // Many short calls in a row must not keep the leader from its events either.
        if polls == std::mem::replace(&mut self.polls, polls) {
            sched.ask_glance();
        }
        let wake = match self.seen {
            Some((who, what, since)) if (who, what) == (leader, call) => {
                if since.elapsed() < shared.config.promote_after {
                    return;
                }
                sched.promote(leader, Some(call))
            }
            _ => {
                self.seen = Some((leader, call, Instant::now()));
                return;
            }
        };
        drop(sched);
        self.seen = None;
        carry_out(&shared, wake);
    }
}
