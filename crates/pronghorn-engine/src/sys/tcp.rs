//! What only TCP on Linux tells: deferred accepts, and when a FIN came.
#![allow(unsafe_code)]

use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

/// Lets the kernel keep a new connection until its first bytes are there (or about a second has passed).
pub(crate) fn defer_accept(listener: impl AsFd) {
    let seconds: libc::c_int = 1;
    // SAFETY: the descriptor is open for the call; the option takes an int, whose address and size are given.
    // A refusal (not TCP) only means that accepts are not deferred.
    unsafe {
        libc::setsockopt(
            listener.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_DEFER_ACCEPT,
            (&raw const seconds).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        );
    }
}

/// How long ago a peer's last segments came.
pub(crate) struct LastHeard {
    /// The last one with data.
    pub(crate) data: Duration,
    /// The last one that carried an acknowledgement: once the FIN is known to have come, the FIN, unless something was sent to the
    /// peer after its data.
    pub(crate) acknowledgement: Duration,
}

/// When the peer of a connection was heard. `None` where the kernel cannot tell (not TCP).
pub(crate) fn last_heard(socket: impl AsFd) -> Option<LastHeard> {
    let mut info = MaybeUninit::<libc::tcp_info>::zeroed();
    let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: the descriptor is open for the call; the kernel writes at most `length` bytes to the address given.
    let answer = unsafe {
        libc::getsockopt(
            socket.as_fd().as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        )
    };
    if answer != 0 {
        return None;
    }
    // SAFETY: zeroed at first and of integers only, so every bit pattern is a value.
    let info = unsafe { info.assume_init() };
    Some(LastHeard {
        data: Duration::from_millis(info.tcpi_last_data_recv.into()),
        acknowledgement: Duration::from_millis(info.tcpi_last_ack_recv.into()),
    })
}
