//! Listening sockets: opened from an address, accepting until told to stop.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::path::{Path, PathBuf};

use crate::address::Local;
use crate::sys::{self, Bound, Interest, SocketFile};

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

/// Who may connect to a Unix socket. What is none stays as the system makes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// The permissions of its file, whatever the umask.
    pub mode: Option<u32>,
    /// The number of the user whom its file belongs to.
    pub user: Option<u32>,
    /// The number of the group that its file belongs to.
    pub group: Option<u32>,
}

/// A listening socket.
#[derive(Debug)]
pub struct Listener {
    socket: OwnedFd,
    address: Bound,
    /// The name to remove when the server is done.
    path: Option<SocketFile>,
    /// Whether others have it too, by intent.
    inherited: bool,
    /// Whether others accept from it too.
    shared: bool,
    /// Whether somebody else opened it, who keeps it when the server ends.
    lasting: bool,
    /// Whether it serves metrics and nothing else.
    for_metrics: bool,
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
            Bind::Unix(path) => Self::open_unix(path, Access::default(), backlog),
            Bind::Fd(fd) => {
                let mut listener = Self::from_socket(sys::inherited(*fd)?, None)?;
                listener.inherited = true;
                Ok(listener)
            }
        }
    }

    /// Opens a Unix socket as [`Listener::open`] does. `access` holds before anyone can connect.
    ///
    /// # Errors
    /// Those of `open`, and the system's refusal of permissions or owner.
    pub fn open_unix(path: &Path, access: Access, backlog: i32) -> io::Result<Self> {
        // Of two servers that find a stale socket one must not remove what the other has made.
        let _alone = path.parent().and_then(sys::lock_folder);
        clear_stale(path)?;
        let (socket, file) = sys::bind_unix(path, access, backlog)?;
        Self::from_socket(socket, Some(file))
    }

    fn from_socket(socket: OwnedFd, path: Option<SocketFile>) -> io::Result<Self> {
        let address = sys::bound(&socket)?;
        if let Bound::Tcp(_) = address {
            sys::defer_accept(&socket);
        }
        Ok(Listener {
            socket,
            address,
            path,
            inherited: false,
            shared: false,
            lasting: false,
            for_metrics: false,
        })
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
            lasting: self.lasting,
            for_metrics: self.for_metrics,
        })
    }

    /// Serves nothing but the metrics, and the health check where there is one.
    #[must_use]
    pub fn for_metrics(mut self) -> Self {
        self.for_metrics = true;
        self
    }

    /// Somebody else opened it, as systemd does, and keeps it: it does not end with the server.
    #[must_use]
    pub fn lasting(mut self) -> Self {
        self.lasting = true;
        self
    }

    /// Ends it whatever other processes hold of it: who connects from now on is refused.
    pub fn end(&self) {
        if !self.lasting {
            sys::end_for_all(&self.socket);
        }
    }

    pub(crate) fn is_for_metrics(&self) -> bool {
        self.for_metrics
    }

    /// A listening socket that this process was left by another one of the same server.
    ///
    /// # Errors
    /// The number is no open descriptor, or not a listening socket.
    pub fn adopt(fd: RawFd) -> io::Result<Self> {
        Self::open(&Bind::Fd(fd), 0)
    }

    /// Nobody else has it any more: its end, and its path, are this process's business.
    pub fn own(&mut self) {
        self.inherited = false;
        if let Bound::Unix(path) = &self.address {
            self.path = SocketFile::at(path);
        }
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
            Bound::Tcp(address) if self.for_metrics => write!(f, "http://{address}/metrics"),
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
            path.remove();
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
        let what = if kind.is_symlink() { "a symbolic link" } else { "something else" };
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            format!("there is {what} at this path, which was left alone"),
        ));
    }
    if sys::is_alive(path)? {
        return Err(io::Error::new(
            io::ErrorKind::AddrInUse,
            "another process listens on this socket",
        ));
    }
    std::fs::remove_file(path)
}
