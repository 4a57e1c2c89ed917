//! What ends the watchdog's sleep.

use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use signal_hook::consts::{SIGABRT, SIGQUIT};
use signal_hook::low_level::{pipe, unregister};
use signal_hook::{SigId, flag};

use crate::sys;

/// A socket that a byte comes by for each call, from a thread or a signal handler.
pub(super) struct Alarm {
    listens: UnixStream,
    rings: UnixStream,
    stacks: Arc<AtomicBool>,
    /// A byte comes by it for each SIGQUIT.
    quits: UnixStream,
    /// Kept where no signal is watched: an end that nobody holds is readable for ever.
    _quit: UnixStream,
    /// How many came.
    quit_count: AtomicUsize,
    actions: Vec<SigId>,
}

impl Alarm {
    /// `signals`: SIGABRT is a request for stacks, and SIGQUIT is counted. A real abort ends the process all the same.
    pub(super) fn new(signals: bool) -> io::Result<Self> {
        let (listens, rings) = UnixStream::pair()?;
        listens.set_nonblocking(true)?;
        rings.set_nonblocking(true)?;
        let (quits, quit) = UnixStream::pair()?;
        quits.set_nonblocking(true)?;
        let mut alarm = Alarm {
            listens,
            rings,
            stacks: Arc::default(),
            quits,
            _quit: quit.try_clone()?,
            quit_count: AtomicUsize::new(0),
            actions: Vec::new(),
        };
        if signals {
            // In this order: whoever is woken by the byte finds the flag.
            alarm.actions.push(flag::register(SIGABRT, alarm.stacks.clone())?);
            alarm.actions.push(pipe::register(SIGABRT, alarm.rings.try_clone()?)?);
            alarm.actions.push(pipe::register(SIGQUIT, quit)?);
        }
        Ok(alarm)
    }

    pub(super) fn ring(&self) {
        // The one way this can fail is a full socket: then a call is pending already.
        while (&self.rings).write(b"r").is_err_and(|error| error.kind() == ErrorKind::Interrupted) {
        }
    }

    pub(super) fn request_stacks(&self) {
        self.stacks.store(true, Ordering::Relaxed);
        self.ring();
    }

    /// Whether stacks were requested since the last call.
    pub(super) fn takes_stacks(&self) -> bool {
        self.stacks.swap(false, Ordering::Relaxed)
    }

    /// Whether SIGQUIT came a second time: who asks again wants to know what is waited for.
    pub(super) fn quits_again(&self) -> bool {
        let mut bytes = [0; 16];
        let Ok(count @ 1..) = (&self.quits).read(&mut bytes) else { return false };
        self.quit_count.fetch_add(count, Ordering::Relaxed) + count >= 2
    }

    /// Waits for a call, at most for `millis`; `None` is without end.
    pub(super) fn wait(&self, millis: Option<u64>) {
        let limit = millis.map_or(Duration::MAX, Duration::from_millis);
        let quits = Some(self.quits.as_fd());
        if !matches!(sys::wait_ready(&self.listens, false, quits, limit.min(LONGEST)), Ok(true)) {
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
