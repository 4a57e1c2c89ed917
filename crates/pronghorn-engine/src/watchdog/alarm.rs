//! What ends the watchdog's sleep.

use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use signal_hook::consts::SIGABRT;
use signal_hook::low_level::{pipe, unregister};
use signal_hook::{SigId, flag};

use crate::sys;

/// A socket that a byte comes by for each call, from a thread or a signal handler.
pub(super) struct Alarm {
    listens: UnixStream,
    rings: UnixStream,
    stacks: Arc<AtomicBool>,
    actions: Vec<SigId>,
}

impl Alarm {
    /// `signals`: SIGABRT is a request for stacks. A real abort ends the process all the same.
    pub(super) fn new(signals: bool) -> io::Result<Self> {
        let (listens, rings) = UnixStream::pair()?;
        listens.set_nonblocking(true)?;
        rings.set_nonblocking(true)?;
        let mut alarm = Alarm { listens, rings, stacks: Arc::default(), actions: Vec::new() };
        if signals {
            // In this order: whoever is woken by the byte finds the flag.
            alarm.actions.push(flag::register(SIGABRT, alarm.stacks.clone())?);
            alarm.actions.push(pipe::register(SIGABRT, alarm.rings.try_clone()?)?);
        }
        Ok(alarm)
    }

    pub(super) fn ring(&self) {
        // The one way this can fail is a full socket: then a call is pending already.
        let _ = (&self.rings).write(b"r");
    }

    pub(super) fn request_stacks(&self) {
        self.stacks.store(true, Ordering::Relaxed);
        self.ring();
    }

    /// Whether stacks were requested since the last call.
    pub(super) fn takes_stacks(&self) -> bool {
        self.stacks.swap(false, Ordering::Relaxed)
    }

    /// Waits for a call, at most for `millis`; `None` is without end.
    pub(super) fn wait(&self, millis: Option<u64>) {
        let limit = millis.map_or(Duration::MAX, Duration::from_millis);
        if !matches!(sys::wait_ready(&self.listens, false, None, limit.min(LONGEST)), Ok(true)) {
            return;
        }
        while let Ok(1..) = (&self.listens).read(&mut [0; 64]) {}
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        for action in &self.actions {
            unregister(*action);
        }
    }
}

/// A look at nothing a day costs nothing.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
