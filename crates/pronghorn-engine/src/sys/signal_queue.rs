//! Signals that wait in a queue of the kernel, to be read from a descriptor, for a process that has one thread.
#![allow(unsafe_code)]

use std::io;
use std::mem::{self, MaybeUninit, size_of};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::Command;
use std::ptr;

/// The signals of a supervisor: blocked, and read one by one.
#[derive(Debug)]
pub struct SignalQueue {
    fd: OwnedFd,
    /// What was blocked before.
    before: libc::sigset_t,
}

impl SignalQueue {
    /// Blocks `signals` for the calling thread, which should be the only one, and for those it starts.
    ///
    /// # Errors
    /// The system's, when it has no descriptors left.
    pub fn new(signals: &[i32]) -> io::Result<Self> {
        // SAFETY: the set is made by `sigemptyset` before anything reads it, `before` is filled by the call, and both live for the
        // calls; the descriptor is new and nobody else's.
        unsafe {
            let mut set = mem::zeroed();
            libc::sigemptyset(&raw mut set);
            for signal in signals {
                libc::sigaddset(&raw mut set, *signal);
            }
            let fd = libc::signalfd(-1, &raw const set, libc::SFD_NONBLOCK | libc::SFD_CLOEXEC);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            let mut before = mem::zeroed();
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, &raw mut before);
            Ok(SignalQueue { fd: OwnedFd::from_raw_fd(fd), before })
        }
    }

    /// The next signal that came, if one did. One that came several times before it is read may be given once.
    pub fn take(&self) -> Option<i32> {
        let mut info = MaybeUninit::<libc::signalfd_siginfo>::uninit();
        let size = size_of::<libc::signalfd_siginfo>();
        // SAFETY: the kernel writes at most `size` bytes to the address given, and whole records only.
        let read = unsafe { libc::read(self.fd.as_raw_fd(), info.as_mut_ptr().cast(), size) };
        if read != size as isize {
            return None;
        }
        // SAFETY: the read filled all of it.
        let info = unsafe { info.assume_init() };
        i32::try_from(info.ssi_signo).ok()
    }

    /// Has `command` start its program with what was blocked before: it would inherit the signals that wait here.
    pub fn keep_from(&self, command: &mut Command) {
        let before = self.before;
        // SAFETY: the new process only sets its mask, which is safe between fork and exec, from a set that the system gave.
        unsafe {
            command.pre_exec(move || {
                libc::pthread_sigmask(libc::SIG_SETMASK, &raw const before, ptr::null_mut());
                Ok(())
            });
        }
    }

    /// Ends it: signals do what they did before.
    pub fn release(self) {
        // SAFETY: the set is one that the system gave, and lives for the call.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, ptr::null_mut());
        }
    }
}

impl AsFd for SignalQueue {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}
