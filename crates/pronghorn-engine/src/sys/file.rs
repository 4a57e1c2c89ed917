//! Files: the unnamed ones that hold large bodies, and sending one to a socket.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::retry_on_intr;

/// At most this much of a file goes to the socket in one call, so that one response does not hold a thread for long.
const SEND_FILE_CHUNK: u64 = 1 << 20;

/// Opens what needs nothing but a descriptor.
pub(crate) fn spare_descriptor() -> io::Result<OwnedFd> {
    Ok(rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?)
}

/// Opens a file without a name in `directory`: it is gone when the last descriptor closes, whatever ends the process.
pub(crate) fn temporary_file(directory: &Path) -> io::Result<File> {
    let mode = Mode::RUSR | Mode::WUSR;
    let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
    match retry_on_intr(|| rustix::fs::open(directory, flags, mode)) {
        Ok(fd) => Ok(fd.into()),
        // Not every file system has O_TMPFILE: make one with a name and take the name away.
        Err(_) => named_then_unlinked(directory, mode),
    }
}

fn named_then_unlinked(directory: &Path, mode: Mode) -> io::Result<File> {
    for attempt in 0..100u32 {
        let name =
            format!(".pronghorn-{}-{}-{attempt}", std::process::id(), super::monotonic_millis());
        let path = directory.join(name);
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC;
        match retry_on_intr(|| rustix::fs::open(&path, flags, mode)) {
            Ok(fd) => {
                rustix::fs::unlink(&path)?;
                return Ok(fd.into());
            }
            Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

/// Writes all of `data` at `offset`.
pub(crate) fn write_all_at(file: &File, data: &[u8], offset: u64) -> io::Result<()> {
    file.write_all_at(data, offset)
}

/// Sends up to `remaining` bytes of `file` from `offset` on and moves `offset`. Gives the number of bytes sent: 0 is a file
/// shorter than it was said to be. `WouldBlock` when the socket is full.
pub(crate) fn send_file(
    socket: impl AsFd,
    file: &File,
    offset: &mut u64,
    remaining: u64,
) -> io::Result<usize> {
    let count = remaining.min(SEND_FILE_CHUNK) as usize;
    loop {
        match rustix::fs::sendfile(socket.as_fd(), file, Some(offset), count) {
            Err(rustix::io::Errno::INTR) => {}
            result => return Ok(result?),
        }
    }
}
