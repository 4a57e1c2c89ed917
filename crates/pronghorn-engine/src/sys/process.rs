//! The process: its clocks, its descriptor limit, its end.
#![allow(unsafe_code)]

use std::cell::Cell;
use std::os::fd::{AsRawFd, IntoRawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{mem, ptr};

use rustix::fs::{Mode, OFlags};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

/// How far [`monotonic_millis`] may be behind: the longest tick of a kernel.
pub(crate) const CLOCK_STEP_MILLIS: u64 = 10;

/// A duration in whole milliseconds, as clocks and deadlines here count; what is too long is the longest.
#[inline]
pub fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Milliseconds of the monotonic clock, of a few milliseconds' resolution (read without a system call).
pub(crate) fn monotonic_millis() -> u64 {
    let now = clock_gettime(ClockId::MonotonicCoarse);
    now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000
}

/// Microseconds of the monotonic clock, exact.
pub(crate) fn monotonic_micros() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000 + now.tv_nsec as u64 / 1000
}

/// Seconds since 1970, of a few milliseconds' resolution (read without a system call).
pub(crate) fn unix_seconds() -> u64 {
    clock_gettime(ClockId::RealtimeCoarse).tv_sec as u64
}

/// The resident memory of a process, which may have ended.
pub fn resident_bytes(process: u32) -> Option<u64> {
    // Pages: of the whole address space, then of what of it is in memory (proc(5)).
    let text = std::fs::read_to_string(format!("/proc/{process}/statm")).ok()?;
    let pages: u64 = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * rustix::param::page_size() as u64)
}

/// Seconds since 1970 and the milliseconds of the current one, exact.
pub(crate) fn unix_time() -> (u64, u32) {
    let now = clock_gettime(ClockId::Realtime);
    (now.tv_sec as u64, now.tv_nsec as u32 / 1_000_000)
}

/// The calling thread, as the system's thread library names it.
pub(crate) fn thread_ident() -> u64 {
    // SAFETY: it only gives a number.
    unsafe { libc::pthread_self() as u64 }
}

/// Raises the soft limit of open descriptors to the hard limit.
pub(crate) fn raise_descriptor_limit() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    // Where it is refused the server runs with the limit it has.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}

/// Opens /dev/null in the place of each standard stream that is closed: no socket takes its number then, and is sent what is
/// written to it.
pub fn open_standard_streams() {
    // The lowest free number is the one that is given.
    while let Ok(null) = rustix::fs::open("/dev/null", OFlags::RDWR, Mode::empty()) {
        if null.as_raw_fd() > 2 {
            return;
        }
        // Open as long as the process runs.
        let _ = null.into_raw_fd();
    }
}

/// Notes that the process has forked: another one holds its descriptors too, so that to close one ends nothing by itself.
pub fn note_fork() {
    FORKED.store(true, Ordering::Relaxed);
}

/// Whether the process has forked.
pub(crate) fn has_forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}

static FORKED: AtomicBool = AtomicBool::new(false);

/// Lets the signals that the server acts on wait, as far as they come to this thread, until [`release_signals`].
pub fn hold_signals() {
    // SAFETY: both sets are made by `sigemptyset` before anything reads them, and live for the calls.
    unsafe {
        let (mut held, mut before) = (mem::zeroed(), mem::zeroed());
        libc::sigemptyset(&raw mut held);
        libc::sigemptyset(&raw mut before);
        libc::sigaddset(&raw mut held, libc::SIGINT);
        libc::sigaddset(&raw mut held, libc::SIGTERM);
        libc::sigaddset(&raw mut held, libc::SIGABRT);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const held, &raw mut before);
        HELD.set(Some(before));
    }
}

/// Ends what [`hold_signals`] began on this thread, or on the one it was forked from.
pub fn release_signals() {
    if let Some(before) = HELD.take() {
        // SAFETY: the set is one that the system gave, and lives for the call.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut());
        }
    }
}

thread_local! {
    /// The signals that waited before [`hold_signals`].
    static HELD: Cell<Option<libc::sigset_t>> = const { Cell::new(None) };
}

/// Ends the process at once: nothing is unwound, no exit handler runs.
pub fn exit_now(code: i32) -> ! {
    // SAFETY: _exit only ends the process.
    unsafe { libc::_exit(code) }
}
