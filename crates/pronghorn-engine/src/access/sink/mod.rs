//! Where lines go.

mod stream;
mod syslog;

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use stream::Stream;
use syslog::Syslog;

use crate::datagram::DatagramAddress;

/// Where a log is to go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogTarget {
    /// To the end of a file.
    File(PathBuf),
    /// To standard output.
    Stdout,
    /// To a syslog daemon.
    Syslog(DatagramAddress),
}

/// A target that is open.
#[derive(Debug)]
pub(super) enum Sink {
    Stream(Stream),
    Syslog(Syslog),
}

/// Lines that were not written.
#[derive(Debug)]
pub(super) struct Unwritten {
    /// Where they begin.
    pub(super) from: usize,
    /// What kept them; none if it was time.
    pub(super) error: Option<io::Error>,
}

/// Asked again and again while the target takes nothing.
pub(super) trait Wait {
    /// Whether to wait on.
    fn goes_on(&mut self) -> bool;
}

impl LogTarget {
    /// Finds out whether it can be opened.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn check(&self) -> io::Result<()> {
        Sink::open(self.clone()).map(drop)
    }
}

impl fmt::Display for LogTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LogTarget::File(path) => path.display().fmt(f),
            LogTarget::Stdout => f.write_str("-"),
            LogTarget::Syslog(address) => write!(f, "syslog:{address}"),
        }
    }
}

impl Sink {
    pub(super) fn open(target: LogTarget) -> io::Result<Self> {
        Ok(match target {
            LogTarget::File(path) => Sink::Stream(Stream::open(path)?),
            LogTarget::Stdout => Sink::Stream(Stream::standard_output()?),
            LogTarget::Syslog(address) => Sink::Syslog(Syslog::open(address)?),
        })
    }

    /// Opens the target anew; the old one is kept if that fails.
    pub(super) fn reopen(&mut self) -> io::Result<()> {
        match self {
            Sink::Stream(stream) => stream.reopen(),
            Sink::Syslog(syslog) => syslog.reopen(),
        }
    }

    /// Writes `lines`, each of which has its end.
    pub(super) fn write(&mut self, lines: &[u8], wait: &mut impl Wait) -> Result<(), Unwritten> {
        match self {
            _ if lines.is_empty() => Ok(()),
            Sink::Stream(stream) => stream.write(lines, wait),
            Sink::Syslog(syslog) => syslog.write(lines, wait),
        }
    }
}

/// How long a target is waited for before it is asked whether to wait on.
const PATIENCE: Duration = Duration::from_millis(100);
