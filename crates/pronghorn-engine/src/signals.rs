//! Signals that end the server, turned into events of the loop.

use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use signal_hook::SigId;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::low_level::{pipe, unregister};

use crate::event_loop::SIGNALS;
use crate::sys::{Interest, Selector};

/// A signal the server acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// SIGINT: drain; a second one stops at once.
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

/// The signals' arrival, as bytes on sockets that the selector watches.
#[derive(Debug)]
pub(crate) struct Signals {
    sources: Vec<(Signal, UnixStream, SigId)>,
}

impl Signals {
    pub(crate) fn new(selector: &Selector) -> io::Result<Self> {
        let mut sources = Vec::new();
        for (signal, number) in [(Signal::Interrupt, SIGINT), (Signal::Terminate, SIGTERM)] {
            let (read, write) = UnixStream::pair()?;
            read.set_nonblocking(true)?;
            selector.add(read.as_fd(), SIGNALS, Interest::Read)?;
            sources.push((signal, read, pipe::register(number, write)?));
        }
        Ok(Signals { sources })
    }

    /// The signals that came since the last call; one that came several times is given as often.
    pub(crate) fn take(&self) -> Vec<Signal> {
        let mut came = Vec::new();
        for (signal, stream, _) in &self.sources {
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
        for (_, _, id) in &self.sources {
            unregister(*id);
        }
    }
}
