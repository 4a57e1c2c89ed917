//! Sockets: made, accepted, read and written, never blocking.
#![allow(unsafe_code)]

use std::ffi::OsStr;
use std::io::{self, IoSlice};
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvFlags, SendAncillaryBuffer, SendFlags, Shutdown, SocketAddrUnix,
    SocketFlags, SocketType, acceptfrom_with, bind, getsockname, listen, sendmsg, socket_with,
    sockopt,
};

use super::memory::{advance, set_filled};
use crate::handler::BodyBuffer;

/// What `accept` came to.
pub(crate) enum Accepted {
    /// A connection, and its peer's address (none for a Unix socket).
    Connection(OwnedFd, Option<SocketAddr>),
    /// No connection waits.
    Empty,
    /// The connection ended before it was taken, or the call was interrupted: try the next.
    Retry,
    /// No descriptor or no memory for it: wait before the next try.
    Exhausted(io::Error),
}

pub(super) const NEW: SocketFlags = SocketFlags::CLOEXEC.union(SocketFlags::NONBLOCK);

/// Makes a listening TCP socket. A v6 address takes v6 peers only, so that both families can be bound side by side.
pub(crate) fn bind_tcp(address: SocketAddr, backlog: i32) -> io::Result<OwnedFd> {
    let family = if address.is_ipv6() { AddressFamily::INET6 } else { AddressFamily::INET };
    let socket = socket_with(family, SocketType::STREAM, NEW, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    if address.is_ipv6() {
        sockopt::set_ipv6_v6only(&socket, true)?;
    }
    bind(&socket, &address)?;
    // Accepted sockets inherit the option: no call per connection.
    sockopt::set_tcp_nodelay(&socket, true)?;
    listen(&socket, backlog)?;
    Ok(socket)
}

/// Takes over a listening socket that this process was started with.
///
/// Errors: the number is no open descriptor, or not a listening socket.
pub(crate) fn inherited(fd: RawFd) -> io::Result<OwnedFd> {
    check_open(fd)?;
    if !sockopt::socket_acceptconn(borrow(fd)).unwrap_or(false) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            format!("{fd} is not a listening socket"),
        ));
    }
    // SAFETY: the descriptor is open and a listening socket; who named it on the command line gave it to us alone.
    let socket = unsafe { OwnedFd::from_raw_fd(fd) };
    rustix::io::ioctl_fionbio(&socket, true)?;
    rustix::io::fcntl_setfd(&socket, rustix::io::FdFlags::CLOEXEC)?;
    // Fails on a Unix socket, which needs it not.
    let _ = sockopt::set_tcp_nodelay(&socket, true);
    Ok(socket)
}

/// Takes over a descriptor that this process was started with, and that nothing in it owns yet.
///
/// # Errors
/// The number is no open descriptor.
pub fn adopt_descriptor(fd: RawFd) -> io::Result<OwnedFd> {
    check_open(fd)?;
    // SAFETY: the descriptor is open, and who started this process left it open for it alone.
    let owned = unsafe { OwnedFd::from_raw_fd(fd) };
    rustix::io::fcntl_setfd(&owned, rustix::io::FdFlags::CLOEXEC)?;
    Ok(owned)
}

fn check_open(fd: RawFd) -> io::Result<()> {
    if fd < 0 || rustix::io::fcntl_getfd(borrow(fd)).is_err() {
        return Err(io::Error::new(
            io::ErrorKind::NotFound,
            format!("{fd} is not an open descriptor"),
        ));
    }
    Ok(())
}

/// What a listening socket is bound to.
#[derive(Clone, Debug)]
pub(crate) enum Bound {
    /// A TCP address.
    Tcp(SocketAddr),
    /// The path of a Unix socket; empty for one without.
    Unix(PathBuf),
}

/// What `socket` is bound to, with the port the system chose where 0 was asked for.
pub(crate) fn bound(socket: impl AsFd) -> io::Result<Bound> {
    let name = getsockname(socket)?;
    if let Ok(address) = SocketAddr::try_from(name.clone()) {
        return Ok(Bound::Tcp(address));
    }
    let unix = SocketAddrUnix::try_from(name).ok();
    let path = unix.as_ref().and_then(|unix| unix.path_bytes()).unwrap_or_default();
    Ok(Bound::Unix(OsStr::from_bytes(path).into()))
}

fn borrow<'a>(fd: RawFd) -> BorrowedFd<'a> {
    // SAFETY: not -1, and used only to ask the kernel about the number; it answers EBADF where it is not open.
    unsafe { BorrowedFd::borrow_raw(fd) }
}

/// Takes one connection off the listener's backlog.
pub(crate) fn accept(listener: impl AsFd) -> Accepted {
    match acceptfrom_with(listener, NEW) {
        Ok((socket, address)) => {
            Accepted::Connection(socket, address.and_then(|address| address.try_into().ok()))
        }
        // Another process may have ended the listener for all.
        Err(Errno::AGAIN | Errno::INVAL) => Accepted::Empty,
        Err(error @ (Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM)) => {
            Accepted::Exhausted(error.into())
        }
        Err(_) => Accepted::Retry,
    }
}

/// Reads once, at most `most` bytes, into the spare capacity of `buffer`, which must not be full. `Ok(0)` is the peer's end.
pub(crate) fn recv(socket: impl AsFd, buffer: &mut Vec<u8>, most: usize) -> io::Result<usize> {
    let spare = buffer.spare_capacity_mut();
    let most = most.min(spare.len());
    let read = recv_uninit(socket, &mut spare[..most])?;
    // SAFETY: the read initialised these bytes.
    unsafe { set_filled(buffer, read) };
    Ok(read)
}

/// Looks at what [`recv`] would read now, and leaves it there.
pub(crate) fn peek(socket: impl AsFd, buffer: &mut Vec<u8>) -> io::Result<usize> {
    let there = loop {
        match rustix::net::recv(socket.as_fd(), buffer.spare_capacity_mut(), RecvFlags::PEEK) {
            Err(Errno::INTR) => {}
            result => break result?.1,
        }
    };
    // SAFETY: the read initialised these bytes.
    unsafe { set_filled(buffer, there) };
    Ok(there)
}

/// Reads once into the spare memory of `buffer`. `Ok(0)` is the peer's end.
pub(crate) fn recv_lent(socket: impl AsFd, buffer: &mut dyn BodyBuffer) -> io::Result<usize> {
    let read = recv_uninit(socket, buffer.spare())?;
    // SAFETY: the read initialised these bytes.
    unsafe { advance(buffer, read) };
    Ok(read)
}

/// Reads once and throws away what came. `Ok(0)` is the peer's end.
pub(crate) fn discard(socket: impl AsFd) -> io::Result<usize> {
    recv_uninit(socket, &mut [MaybeUninit::uninit(); 16 << 10])
}

fn recv_uninit(socket: impl AsFd, buffer: &mut [MaybeUninit<u8>]) -> io::Result<usize> {
    loop {
        match rustix::net::recv(socket.as_fd(), &mut *buffer, RecvFlags::empty()) {
            Err(Errno::INTR) => {}
            Ok((_, read)) => return Ok(read),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Writes once; gives the number of bytes the kernel took.
pub(crate) fn send(socket: impl AsFd, data: &[u8]) -> io::Result<usize> {
    loop {
        match rustix::net::send(socket.as_fd(), data, SendFlags::NOSIGNAL) {
            Err(Errno::INTR) => {}
            result => return Ok(result?),
        }
    }
}

/// As [`send`], to a socket that another owner keeps open.
pub(crate) fn send_by_number(socket: RawFd, data: &[u8]) -> io::Result<usize> {
    send(borrow(socket), data)
}

/// Writes several pieces in one call; gives the number of bytes the kernel took. `more`: the next write follows at once.
pub(crate) fn send_gathered(
    socket: impl AsFd,
    pieces: &[IoSlice<'_>],
    more: bool,
) -> io::Result<usize> {
    let flags = if more { SendFlags::NOSIGNAL | SendFlags::MORE } else { SendFlags::NOSIGNAL };
    loop {
        match sendmsg(socket.as_fd(), pieces, &mut SendAncillaryBuffer::default(), flags) {
            Err(Errno::INTR) => {}
            result => return Ok(result?),
        }
    }
}

/// Sends the peer our end; what it still sends can be read.
pub(crate) fn shutdown_write(socket: impl AsFd) {
    // A connection that is gone already refuses: nothing is left to tell it.
    let _ = rustix::net::shutdown(socket, Shutdown::Write);
}

/// As [`shutdown_write`], of a socket that another owner keeps open.
pub(crate) fn shutdown_write_by_number(socket: RawFd) {
    shutdown_write(borrow(socket));
}

/// Ends a connection or a listener whatever other processes hold of it, as closing it would if there were none.
pub(crate) fn end_for_all(socket: impl AsFd) {
    let resets = matches!(sockopt::socket_linger(socket.as_fd()), Ok(Some(Duration::ZERO)));
    // Whatever is refused is at its end already.
    if !resets || rustix::net::connect_unspec(socket.as_fd()).is_err() {
        let _ = rustix::net::shutdown(socket, Shutdown::Both);
    }
}

/// Makes the coming close tell the peer of an error, not of an end: its response is cut.
pub(crate) fn reset_on_close(socket: impl AsFd) {
    // Without the option it is an ordinary close.
    let _ = sockopt::set_socket_linger(socket, Some(Duration::ZERO));
}
