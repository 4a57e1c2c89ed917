//! A timer that is an event: waits need no time limit of their own, which would be set and cancelled with each of them.

use std::io;
use std::os::fd::OwnedFd;

use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
    timerfd_settime,
};

use super::{Interest, Selector};

/// Reports its token once when its time has come.
#[derive(Debug)]
pub(crate) struct Timer(OwnedFd);

impl Timer {
    /// Makes the timer and registers it under `token`.
    pub(crate) fn new(selector: &Selector, token: u64) -> io::Result<Self> {
        let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
        let fd = timerfd_create(TimerfdClockId::Monotonic, flags)?;
        selector.add(&fd, token, Interest::Read)?;
        Ok(Timer(fd))
    }

    /// Sets it to `millis` of the monotonic clock, in place of what it was set to. A time that is over is reported at once.
    pub(crate) fn set(&self, millis: u64) -> io::Result<()> {
        let none = Timespec { tv_sec: 0, tv_nsec: 0 };
        let time = Timespec {
            tv_sec: (millis / 1000) as i64,
            // Zero seconds and nanoseconds would turn it off.
            tv_nsec: ((millis % 1000) * 1_000_000 + 1) as _,
        };
        let value = Itimerspec { it_interval: none, it_value: time };
        timerfd_settime(&self.0, TimerfdTimerFlags::ABSTIME, &value)?;
        Ok(())
    }
}
