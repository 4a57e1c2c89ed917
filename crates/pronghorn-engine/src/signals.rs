//! Signals that end the server, turned into events of the loop.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::{pipe, unregister};
use signal_hook::{SigId, flag};

use crate::event_loop::SIGNALS;
use crate::sys::{Interest, Selector};

/// A signal the server acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// SIGINT: drain; one that comes after a signal already stops at once, without an event.
    Interrupt,
    /// SIGTERM: drain.
    Terminate,
}

impl Signal {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Signal::Interrupt => "SIGINT",
            Signal::Terminate => "SIGTERM",
        }
    }
}

/// The exit code of a process that a second interrupt ends: 128 and the number of SIGINT.
const INTERRUPTED: i32 = 130;

/// The signals' arrival, as bytes on sockets that the selector watches.
#[derive(Debug)]
pub(crate) struct Signals {
    sources: Vec<(Signal, UnixStream)>,
    actions: Vec<SigId>,
}

impl Signals {
    pub(crate) fn new(selector: &Selector) -> io::Result<Self> {
        // The second interrupt ends the process in the signal handler itself: every thread may be busy in the application. The order
        // counts: the first interrupt finds the flag unset, then sets it.
        let told = Arc::new(AtomicBool::new(false));
        let mut actions = vec![
            flag::register_conditional_shutdown(SIGINT, INTERRUPTED, told.clone())?,
            flag::register(SIGINT, told.clone())?,
            flag::register(SIGTERM, told)?,
        ];
        let mut sources = Vec::new();
        for (signal, number) in [(Signal::Interrupt, SIGINT), (Signal::Terminate, SIGTERM)] {
            let (read, write) = UnixStream::pair()?;
            read.set_nonblocking(true)?;
            selector.add(read.as_fd(), SIGNALS, Interest::Read)?;
            sources.push((signal, read));
            actions.push(pipe::register(number, write)?);
        }
        Ok(Signals { sources, actions })
    }

    /// The signals that came since the last call; one that came several times is given as often.
    pub(crate) fn take(&self) -> Vec<Signal> {
        let mut came = Vec::new();
        for (signal, stream) in &self.sources {
            let mut bytes = [0; 16];
            while let Ok(count @ 1..) = (&*stream).read(&mut bytes) {
                came.extend(std::iter::repeat_n(*signal, count));
            }
        }
        came
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for action in &self.actions {
            unregister(*action);
        }
    }
}
