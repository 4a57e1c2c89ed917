//! systemd: sockets it opened for this process, and what it is told (`sd_listen_fds(3)`, `sd_notify(3)`).

use std::ffi::OsStr;
use std::io;
use std::ops::Range;
use std::os::fd::RawFd;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use pronghorn_engine::Witness;
use pyo3::prelude::*;
use rustix::io::retry_on_intr;
use rustix::net::SendFlags;
use rustix::time::{ClockId, clock_gettime};

use crate::environ;

/// The listening sockets that systemd opened for this process. The variables that tell of them are taken out of the environment:
/// they are of no other process.
pub(crate) fn inherited(py: Python<'_>) -> Vec<RawFd> {
    let [pid, count, _names] =
        ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"].map(|name| environ::take(py, name));
    let sockets = match (pid, count) {
        (Some(pid), Some(count)) => passed(&pid, &count),
        _ => 0..0,
    };
    sockets.inspect(|number| keep_from_programs(py, *number)).collect()
}

fn passed(pid: &str, count: &str) -> Range<RawFd> {
    if pid.parse() != Ok(std::process::id()) {
        log::warn!(
            "the sockets of systemd are for process {pid}, not for this one: start pronghorn itself, or by exec"
        );
        return 0..0;
    }
    match count.parse::<RawFd>() {
        Ok(count @ 0..=MOST_SOCKETS) => FIRST_SOCKET..FIRST_SOCKET + count,
        _ => {
            log::warn!("LISTEN_FDS={count} is no number of sockets and is ignored");
            0..0
        }
    }
}

/// Where to tell systemd how the service is; nowhere if nobody asked.
#[derive(Debug, Default)]
pub(crate) struct Notifier {
    socket: Option<UnixDatagram>,
    watchdog: Option<Duration>,
}

impl Notifier {
    /// As `NOTIFY_SOCKET`, `WATCHDOG_USEC` and `WATCHDOG_PID` say. They stay in the environment, for the process that takes over,
    /// but for the last, which names this one.
    pub(crate) fn from_environment(py: Python<'_>) -> Self {
        let Some(address) = std::env::var_os("NOTIFY_SOCKET") else { return Self::default() };
        match connect(&address) {
            Ok(socket) => Self { socket: Some(socket), watchdog: watchdog(py) },
            Err(error) => {
                log::warn!("systemd is not told of this process: {}: {error}", address.display());
                Self::default()
            }
        }
    }

    /// The service answers requests, from now on or again.
    pub(crate) fn ready(&self, status: &str) {
        self.send(&format!("READY=1\nSTATUS={status}"));
    }

    /// Settings and code are read again; [`Notifier::ready`] ends that.
    pub(crate) fn reloading(&self) {
        let now = clock_gettime(ClockId::Monotonic);
        let micros = now.tv_sec * 1_000_000 + now.tv_nsec / 1000;
        self.send(&format!("RELOADING=1\nMONOTONIC_USEC={micros}\nSTATUS=reloading"));
    }

    /// The service ends.
    pub(crate) fn stopping(&self) {
        self.send("STOPPING=1\nSTATUS=finishing the requests in flight");
    }

    /// From now on `pid` is the process to be sent signals and watched.
    pub(crate) fn main_pid(&self, pid: u32) {
        self.send(&format!("MAINPID={pid}"));
    }

    /// How often [`Notifier::watchdog`] is to be called: twice in the time after which the service counts as hung.
    pub(crate) fn watchdog_interval(&self) -> Option<Duration> {
        self.watchdog.map(|limit| limit / 2)
    }

    /// A sign of life.
    pub(crate) fn watchdog(&self) {
        self.send("WATCHDOG=1");
    }

    fn send(&self, message: &str) {
        let Some(socket) = &self.socket else { return };
        let send = || rustix::net::send(socket, message.as_bytes(), SendFlags::NOSIGNAL);
        if let Err(error) = retry_on_intr(send).map_err(io::Error::from) {
            log::warn!("systemd could not be told {message:?}: {error}");
        }
    }
}

impl Witness for Notifier {
    fn draining(&self) {
        self.stopping();
    }

    fn alive(&self) {
        self.watchdog();
    }

    fn pulse(&self) -> Option<Duration> {
        self.watchdog_interval()
    }
}

/// An `@` is the first byte of an address in no file system.
fn connect(address: &OsStr) -> io::Result<UnixDatagram> {
    let bytes = address.as_bytes();
    let address = match bytes.strip_prefix(b"@") {
        Some(name) => SocketAddr::from_abstract_name(name)?,
        None => SocketAddr::from_pathname(address)?,
    };
    let socket = UnixDatagram::unbound()?;
    socket.connect_addr(&address)?;
    // A message that must arrive may wait, but not for ever.
    socket.set_write_timeout(Some(PATIENCE))?;
    Ok(socket)
}

/// After how long without a sign of life systemd ends the service, if it watches this process.
fn watchdog(py: Python<'_>) -> Option<Duration> {
    let limit = std::env::var("WATCHDOG_USEC").ok()?.parse().ok().filter(|micros| *micros > 0)?;
    let is_own =
        environ::take(py, "WATCHDOG_PID").is_none_or(|pid| pid.parse() == Ok(std::process::id()));
    is_own.then(|| Duration::from_micros(limit))
}

/// A program that the application starts does not get the socket.
fn keep_from_programs(py: Python<'_>, number: RawFd) {
    // One that is not open is told of when it is to be listened at.
    let _ = py.import("os").and_then(|os| os.call_method1("set_inheritable", (number, false)));
}

/// systemd passes sockets from this number on.
const FIRST_SOCKET: RawFd = 3;
const MOST_SOCKETS: RawFd = 1024;

const PATIENCE: Duration = Duration::from_secs(1);
