//! Listening sockets: opened from an address, accepting until told to stop.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};

use crate::address::Local;
use crate::sys::{self, Bound, Interest};

/// What to listen on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bind {
    /// A TCP address.
    Tcp(SocketAddr),
    /// The path of a Unix socket.
    Unix(PathBuf),
    /// A listening socket this process was started with.
    Fd(RawFd),
}

/// A listening socket.
#[derive(Debug)]
pub struct Listener {
    socket: OwnedFd,
    address: Bound,
    /// The path to remove when the server is done.
    path: Option<PathBuf>,
    /// Whether others have it too, by intent.
    inherited: bool,
    /// Whether others accept from it too.
    shared: bool,
}

impl Listener {
    /// Opens a listening socket. `backlog`: how many connections may wait in the kernel.
    ///
    /// A Unix socket that no process listens on is replaced; anything else at its path is an error, and left alone.
    ///
    /// # Errors
    /// The system's: address in use, no permission, no such directory, not a listening socket.
    pub fn open(bind: &Bind, backlog: i32) -> io::Result<Self> {
        match bind {
            Bind::Tcp(address) => Self::from_socket(sys::bind_tcp(*address, backlog)?, None),
            Bind::Unix(path) => {
                clear_stale(path)?;
                Self::from_socket(sys::bind_unix(path, backlog)?, Some(path.clone()))
            }
            Bind::Fd(fd) => {
                let mut listener = Self::from_socket(sys::inherited(*fd)?, None)?;
                listener.inherited = true;
                Ok(listener)
            }
        }
    }

    fn from_socket(socket: OwnedFd, path: Option<PathBuf>) -> io::Result<Self> {
        let address = sys::bound(&socket)?;
        if let Bound::Tcp(_) = address {
            sys::defer_accept(&socket);
        }
        Ok(Listener { socket, address, path, inherited: false, shared: false })
    }

    /// The same socket, for one of several processes that accept from it. It is not this process's to end.
    ///
    /// # Errors
    /// The system's, when it has no descriptors left.
    pub fn share(&self) -> io::Result<Self> {
        let socket = self.socket.try_clone()?;
        Ok(Listener {
            socket,
            address: self.address.clone(),
            path: None,
            inherited: true,
            shared: true,
        })
    }

    /// Leaves the socket, and its path, to the process that takes over.
    pub fn hand_over(mut self) {
        self.path = None;
        self.inherited = true;
    }

    pub(crate) fn interest(&self) -> Interest {
        if self.shared { Interest::ListenShared } else { Interest::Listen }
    }

    pub(crate) fn is_shared(&self) -> bool {
        self.shared
    }

    /// The TCP address bound, with the port the system chose where 0 was asked for.
    pub fn tcp_address(&self) -> Option<SocketAddr> {
        match self.address {
            Bound::Tcp(address) => Some(address),
            Bound::Unix(_) => None,
        }
    }

    /// As a handler sees it. `index`: its place in the list of listeners.
    pub fn local(&self, index: usize) -> Local {
        match &self.address {
            Bound::Tcp(address) => Local {
                index,
                name: address.ip().to_string(),
                port: address.port().to_string(),
                unix: false,
            },
            Bound::Unix(path) => Local {
                index,
                name: path.to_string_lossy().into_owned(),
                port: String::new(),
                unix: true,
            },
        }
    }
}

impl fmt::Display for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.address {
            Bound::Tcp(address) => write!(f, "http://{address}"),
            Bound::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Some(path) = &self.path {
            // Someone may have removed it already.
            let _ = std::fs::remove_file(path);
        }
        if sys::has_forked() && !self.inherited {
            sys::end_for_all(&self.socket);
        }
    }
}

/// Removes a Unix socket that nobody listens on. What is no socket is never removed.
fn clear_stale(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::FileTypeExt;
    let kind = match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?.file_type(),
    };
    if !kind.is_socket() {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "there is something at this path that is not a socket; it was left alone",
        ));
    }
    match std::os::unix::net::UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            std::fs::remove_file(path)
        }
        Err(error) => Err(error),
        Ok(_) => {
            Err(io::Error::new(io::ErrorKind::AddrInUse, "another process listens on this socket"))
        }
    }
}
