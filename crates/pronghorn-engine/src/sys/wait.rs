//! Waiting for single descriptors, outside the selector.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;

/// Waits until `socket` can be written (`write`) or read, `also` (if given) is readable, or the time is over. Gives whether
/// `socket` is ready; a signal may end the wait before its time.
pub(crate) fn wait_ready(
    socket: impl AsFd,
    write: bool,
    also: Option<BorrowedFd<'_>>,
    limit: Duration,
) -> io::Result<bool> {
    let wanted = if write { PollFlags::OUT } else { PollFlags::IN | PollFlags::RDHUP };
    let socket = socket.as_fd();
    let timeout =
        Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: i64::from(limit.subsec_nanos()) as _ };
    let mut fds = [
        PollFd::from_borrowed_fd(socket, wanted),
        PollFd::from_borrowed_fd(socket, PollFlags::empty()),
    ];
    let watched = match also {
        Some(fd) => {
            fds[1] = PollFd::from_borrowed_fd(fd, PollFlags::IN);
            2
        }
        None => 1,
    };
    match poll(&mut fds[..watched], Some(&timeout)) {
        Ok(_) => Ok(!fds[0].revents().is_empty()),
        Err(rustix::io::Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Looks, without waiting, whether the peer has ended its side (`Some(false)`) or the connection is gone (`Some(true)`).
pub(crate) fn hung_up(socket: impl AsFd) -> Option<bool> {
    let mut fds = [PollFd::from_borrowed_fd(socket.as_fd(), PollFlags::RDHUP)];
    let none = Timespec { tv_sec: 0, tv_nsec: 0 };
    match retry_on_intr(|| poll(&mut fds, Some(&none))) {
        Ok(0) | Err(_) => None,
        Ok(_) => Some(fds[0].revents().intersects(PollFlags::HUP | PollFlags::ERR)),
    }
}
