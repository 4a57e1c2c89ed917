//! Lines on a file, a pipe or a terminal.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write as _};
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use super::{PATIENCE, Unwritten, Wait};
use crate::sys;

/// A file that is open for appending.
#[derive(Debug)]
pub(in crate::access) struct Stream {
    file: File,
    path: Option<PathBuf>,
    /// A file on a disk, which takes what it has room for. Everything else may make who writes wait.
    is_regular: bool,
}

impl Stream {
    pub(super) fn open(path: PathBuf) -> io::Result<Self> {
        Self::of(open(&path)?, Some(path))
    }

    pub(super) fn standard_output() -> io::Result<Self> {
        let inherited = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        if inherited.metadata()?.is_file() {
            // Its place in the file is shared with whoever has it too.
            return Self::of(inherited, None);
        }
        // A description of its own does not wait, and does not keep others from waiting. A socket cannot be opened again.
        let own = options().open("/proc/self/fd/1");
        Self::of(own.unwrap_or(inherited), None)
    }

    fn of(file: File, path: Option<PathBuf>) -> io::Result<Self> {
        let is_regular = file.metadata()?.is_file();
        Ok(Stream { file, path, is_regular })
    }

    pub(super) fn reopen(&mut self) -> io::Result<()> {
        match self.path.take() {
            None => Ok(()),
            Some(path) => {
                let opened = Self::open(path.clone());
                self.path = Some(path);
                *self = opened?;
                Ok(())
            }
        }
    }

    pub(super) fn write(&mut self, lines: &[u8], wait: &mut impl Wait) -> Result<(), Unwritten> {
        if self.is_regular && self.ends_within_a_line() {
            // The rest of it is lost, and what follows is a line of its own.
            self.write_whole(b"\n", 0, wait)?;
        }
        let mut from = 0;
        while from < lines.len() {
            let piece = if self.is_regular { &lines[from..] } else { piece(&lines[from..]) };
            self.write_whole(piece, from, wait)?;
            from += piece.len();
        }
        Ok(())
    }

    /// Whether the last write, of this process or another one, found no room for the end of its line. A write that is going on
    /// looks the same, for a moment.
    fn ends_within_a_line(&self) -> bool {
        let length = self.length();
        self.is_cut_at(length) && {
            thread::sleep(SETTLING);
            self.length() == length && self.is_cut_at(length)
        }
    }

    fn length(&self) -> u64 {
        self.file.metadata().map_or(0, |metadata| metadata.len())
    }

    fn is_cut_at(&self, length: u64) -> bool {
        let mut last = [b'\n'];
        // A file that may not be read counts as whole.
        let _ = length.checked_sub(1).map(|at| self.file.read_at(&mut last, at));
        last != [b'\n']
    }

    fn write_whole(
        &mut self,
        piece: &[u8],
        from: usize,
        wait: &mut impl Wait,
    ) -> Result<(), Unwritten> {
        let mut written = 0;
        while written < piece.len() {
            let unwritten = |error| Unwritten { from: from + written, error };
            if !self.is_regular {
                self.wait_for_room(wait).map_err(unwritten)?;
            }
            match self.file.write(&piece[written..]) {
                Ok(0) => return Err(unwritten(Some(ErrorKind::WriteZero.into()))),
                Ok(count) => written += count,
                Err(error)
                    if matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::WouldBlock) => {}
                Err(error) => return Err(unwritten(Some(error))),
            }
        }
        Ok(())
    }

    fn wait_for_room(&self, wait: &mut impl Wait) -> Result<(), Option<io::Error>> {
        while !sys::wait_ready(&self.file, true, None, PATIENCE).map_err(Some)? {
            if !wait.goes_on() {
                return Err(None);
            }
        }
        Ok(())
    }
}

/// Whole lines that a pipe takes whole if it takes a byte, pipe(7), so that lines of several processes are not mixed up. One line
/// alone may be longer.
fn piece(lines: &[u8]) -> &[u8] {
    let within = &lines[..lines.len().min(PIPE_BUF)];
    match within.iter().rposition(|byte| *byte == b'\n') {
        Some(end) => &lines[..=end],
        None => within,
    }
}

/// Opens for appending, and for looking at what was appended where that is allowed. A named pipe is opened without its reader.
fn open(path: &Path) -> io::Result<File> {
    match options().read(true).open(path) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => options().open(path),
        opened => opened,
    }
}

fn options() -> OpenOptions {
    let mut options = File::options();
    options.create(true).append(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY);
    options
}

const PIPE_BUF: usize = 4096;

/// After this time no write is in the middle of a line any more.
const SETTLING: Duration = Duration::from_millis(10);
