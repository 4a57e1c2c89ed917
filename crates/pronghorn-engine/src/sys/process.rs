//! The process: its clocks, its descriptor limit, its end.
#![allow(unsafe_code)]

use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

/// How far [`monotonic_millis`] may be behind: the longest tick of a kernel.
pub(crate) const CLOCK_STEP_MILLIS: u64 = 10;

/// Milliseconds of the monotonic clock, of a few milliseconds' resolution (read without a system call).
pub(crate) fn monotonic_millis() -> u64 {
    let now = clock_gettime(ClockId::MonotonicCoarse);
    now.tv_sec as u64 * 1000 + now.tv_nsec as u64 / 1_000_000
}

/// Seconds since 1970, of a few milliseconds' resolution (read without a system call).
pub(crate) fn unix_seconds() -> u64 {
    clock_gettime(ClockId::RealtimeCoarse).tv_sec as u64
}

/// Raises the soft limit of open descriptors to the hard limit.
pub(crate) fn raise_descriptor_limit() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    // Where it is refused the server runs with the limit it has.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
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

/// Ends the process at once: nothing is unwound, no exit handler runs.
pub fn exit_now(code: i32) -> ! {
    // SAFETY: _exit only ends the process.
    unsafe { libc::_exit(code) }
}
