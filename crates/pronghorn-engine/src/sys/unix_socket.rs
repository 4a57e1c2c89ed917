//! Unix sockets under a name: made with their permissions, asked whether anyone listens, removed only by whom they belong to.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, Stat, Uid};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketAddrUnix, SocketType, bind, connect, listen, socket_with};

use super::socket::NEW;
use crate::listener::Access;

/// A socket's name in the file system, and which file it was.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SocketFile {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl SocketFile {
    /// Removes the name, unless it means another file by now.
    pub(crate) fn remove(&self) {
        let is_own = rustix::fs::lstat(&self.path)
            .is_ok_and(|stat| (stat.st_dev, stat.st_ino) == (self.device, self.inode));
        if is_own {
            // Someone may have removed it already.
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// The file that this name means now.
    pub(crate) fn at(path: &Path) -> Option<Self> {
        rustix::fs::lstat(path).ok().map(|stat| Self::of(path, &stat))
    }

    fn of(path: &Path, stat: &Stat) -> Self {
        Self { path: path.to_owned(), device: stat.st_dev, inode: stat.st_ino }
    }
}

/// Makes a listening Unix socket at `path`, which must not exist. Its permissions and owner are right before it listens.
pub(crate) fn bind_unix(
    path: &Path,
    access: Access,
    backlog: i32,
) -> io::Result<(OwnedFd, SocketFile)> {
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, NEW, None)?;
    bind(&socket, &SocketAddrUnix::new(path)?)?;
    let made = mark(path, access).and_then(|file| {
        listen(&socket, backlog)?;
        Ok(file)
    });
    match made {
        Ok(file) => Ok((socket, file)),
        Err(error) => {
            let _ = std::fs::remove_file(path);
            Err(error)
        }
    }
}

/// By a descriptor of the file, not by its name: who may write to the folder could put a link there.
fn mark(path: &Path, access: Access) -> io::Result<SocketFile> {
    let file =
        rustix::fs::open(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())?;
    let stat = rustix::fs::fstat(&file)?;
    if !FileType::from_raw_mode(stat.st_mode).is_socket() {
        return Err(Errno::NOTSOCK.into());
    }
    if let Some(mode) = access.mode {
        let by_descriptor = format!("/proc/self/fd/{}", file.as_raw_fd());
        rustix::fs::chmod(by_descriptor, Mode::from_raw_mode(mode))
            .map_err(|error| refused("permissions", error))?;
    }
    if access.user.is_some() || access.group.is_some() {
        let (user, group) = (access.user.map(Uid::from_raw), access.group.map(Gid::from_raw));
        rustix::fs::chownat(&file, "", user, group, AtFlags::EMPTY_PATH)
            .map_err(|error| refused("owner", error))?;
    }
    Ok(SocketFile::of(path, &stat))
}

fn refused(what: &str, error: Errno) -> io::Error {
    io::Error::other(format!("the socket's {what} cannot be changed: {}", io::Error::from(error)))
}

/// Whether a process has the Unix socket at `path` open. Does not wait, however full its backlog is.
pub(crate) fn is_alive(path: &Path) -> io::Result<bool> {
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, NEW, None)?;
    match connect(&socket, &SocketAddrUnix::new(path)?) {
        // A full backlog, and a socket of another kind.
        Ok(()) | Err(Errno::AGAIN | Errno::PROTOTYPE) => Ok(true),
        Err(Errno::CONNREFUSED) => Ok(false),
        Err(error) => Err(error.into()),
    }
}
