//! A supervisor that takes the place of another one (USR2): it is started from the code that is installed, with the same
//! listeners, and the old one goes when the new one says that its workers are ready.

use std::ffi::OsString;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command};

use pronghorn_engine::{Listener, SignalQueue};
use pyo3::prelude::*;
use rustix::process::{Pid, Signal, kill_process};

use super::listeners::Listeners;
use crate::environ;
use crate::settings::Address;

/// What a supervisor gets from the one before: a socket to tell it by, and the listeners.
pub(super) struct Inheritance {
    predecessor: UnixStream,
    pub(super) listeners: Vec<(Address, Listener)>,
}

/// The supervisor that is to take over, on its way.
#[derive(Debug)]
pub(super) struct Successor {
    child: Child,
    socket: UnixStream,
}

/// What became of a successor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// It goes on starting.
    Underway,
    /// Its workers are ready.
    Ready,
    /// It has ended before it was.
    Failed,
}

impl Inheritance {
    /// What this process was started with, if it was started by another supervisor.
    pub(super) fn take(py: Python<'_>) -> Option<Self> {
        let text = environ::take(py, VARIABLE)?;
        let mut lines = text.lines();
        let predecessor = pronghorn_engine::adopt_descriptor(lines.next()?.parse().ok()?).ok()?;
        let listeners = lines.filter_map(|line| {
            let (number, address) = line.split_once(' ')?;
            let address = Address::from_shown(address)?;
            let listener = Listener::adopt(number.parse().ok()?).ok()?;
            let is_for_metrics = matches!(address, Address::Metrics(_));
            Some((address, if is_for_metrics { listener.for_metrics() } else { listener }))
        });
        Some(Inheritance { predecessor: predecessor.into(), listeners: listeners.collect() })
    }

    /// Tells the one before that it can go.
    pub(super) fn take_over(mut self) {
        // If it has ended, all is ours already.
        let _ = self.predecessor.write_all(&[READY]);
    }
}

/// The numbers that the sockets of systemd had in the first supervisor.
pub(super) fn systemd_numbers(listeners: &[(Address, Listener)]) -> Vec<RawFd> {
    let numbers = listeners.iter().filter_map(|(address, _)| address.descriptor());
    numbers.filter_map(|number| number.try_into().ok()).collect()
}

impl Successor {
    /// Starts one, in the folder where this one was started.
    ///
    /// # Errors
    /// It could not be started.
    pub(super) fn start(
        py: Python<'_>,
        folder: &Path,
        listeners: &Listeners,
        signals: &SignalQueue,
    ) -> io::Result<Self> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_nonblocking(true)?;
        // Copies without the mark that closes them in another program.
        let mut passed = vec![pass(&theirs)?];
        let mut text = passed[0].as_raw_fd().to_string();
        for (address, listener) in listeners.iter() {
            let copy = pass(listener)?;
            text.push_str(&format!("\n{} {address}", copy.as_raw_fd()));
            passed.push(copy);
        }
        let (program, name, arguments) =
            command_line(py).map_err(|error| io::Error::other(error.to_string()))?;
        let mut command = Command::new(program);
        command.arg0(name).args(arguments).current_dir(folder).env(VARIABLE, text);
        signals.keep_from(&mut command);
        Ok(Successor { child: command.spawn()?, socket: ours })
    }

    /// Its process id.
    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Tells it to end: there is nothing to take over.
    pub(super) fn end(self) {
        if let Some(pid) = Pid::from_raw(self.child.id() as i32) {
            // It has not been looked after yet, so the number is its own.
            let _ = kill_process(pid, Signal::TERM);
        }
    }

    /// How far it is, as far as it has said.
    pub(super) fn progress(&mut self) -> Progress {
        let mut byte = [0];
        loop {
            return match self.socket.read(&mut byte) {
                Ok(1..) if byte[0] == READY => Progress::Ready,
                Err(error) if error.kind() == ErrorKind::WouldBlock => Progress::Underway,
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                _ => Progress::Failed,
            };
        }
    }
}

impl AsFd for Successor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn pass(fd: impl AsFd) -> io::Result<OwnedFd> {
    Ok(rustix::io::dup(fd)?)
}

/// The program, its name and its arguments, as this process was started.
fn command_line(py: Python<'_>) -> PyResult<(OsString, OsString, Vec<OsString>)> {
    let sys = py.import("sys")?;
    let mut words: Vec<OsString> = sys.getattr("orig_argv")?.extract()?;
    let program: OsString = sys.getattr("executable")?.extract()?;
    let name = if words.is_empty() { program.clone() } else { words.remove(0) };
    Ok((program, name, words))
}

/// The first line is the number of the socket to the one before, then come numbers and addresses of listeners.
const VARIABLE: &str = "_PRONGHORN_SUCCESSION";

const READY: u8 = b'+';
