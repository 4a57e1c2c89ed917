//! Where lines go: standard error, or a file that can be opened anew.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::OFlags;
use rustix::io::retry_on_intr;

/// A file for messages.
struct LogFile {
    path: PathBuf,
    file: File,
    is_regular: bool,
    /// The last line was not written to its end.
    is_cut: bool,
}

/// Has lines go to `path` from now on; `None` is standard error.
///
/// # Errors
/// The file cannot be opened.
pub(super) fn choose(path: Option<&Path>) -> io::Result<()> {
    *chosen() = path.map(LogFile::open).transpose()?;
    Ok(())
}

/// Whether lines go to standard error.
pub(super) fn is_standard() -> bool {
    chosen().is_none()
}

/// Opens the file anew at the next line.
pub(super) fn reopen() {
    REOPEN.store(true, Ordering::Relaxed);
}

/// Writes a line as far as its reader keeps up: nothing waits long for a log that nobody reads, as whoever logs may hold a lock or
/// the interpreter. What is lost is counted, and told with the next line that is not. After a loss there is no more patience.
pub(super) fn write(line: &[u8]) {
    static LOST: AtomicU64 = AtomicU64::new(0);
    let mut chosen = chosen();
    if let Some(file) = chosen.as_mut()
        && REOPEN.swap(false, Ordering::Relaxed)
    {
        file.reopen();
    }
    let lost = LOST.swap(0, Ordering::Relaxed);
    let patience = if lost == 0 { PATIENCE } else { NO_PATIENCE };
    let mut written = |text: &[u8]| match chosen.as_mut() {
        Some(file) => file.write(text, &patience),
        // Held over all pieces, so that lines of several threads stay apart.
        None => write_in_time(&mut io::stderr().lock(), text, &patience),
    };
    let told = lost == 0 || written(format!("[{lost} log messages were lost]\n").as_bytes());
    if !told || !written(line) {
        LOST.fetch_add(if told { 1 } else { lost + 1 }, Ordering::Relaxed);
    }
}

impl LogFile {
    fn open(path: &Path) -> io::Result<Self> {
        let flags = (OFlags::NONBLOCK | OFlags::NOCTTY).bits();
        let options = File::options().create(true).append(true).custom_flags(flags as i32).clone();
        let file = options.open(path)?;
        let is_regular = file.metadata()?.is_file();
        Ok(LogFile { path: path.to_owned(), file, is_regular, is_cut: false })
    }

    fn reopen(&mut self) {
        match Self::open(&self.path) {
            Ok(opened) => *self = opened,
            Err(error) => {
                let line =
                    format!("[the log cannot be reopened, it goes on where it went: {error}]\n");
                self.write(line.as_bytes(), &PATIENCE);
            }
        }
    }

    fn write(&mut self, text: &[u8], patience: &Timespec) -> bool {
        let begin: &[u8] = if self.is_cut { b"\n" } else { b"" };
        let text = &[begin, text].concat()[..];
        let written = match self.is_regular {
            true => self.file.write_all(text).is_ok(),
            false => write_in_time(&mut self.file, text, patience),
        };
        // How much of it was written is not known: an empty line is better than two in one.
        self.is_cut = !written;
        written
    }
}

/// Pieces that a pipe takes whole if it takes a byte, pipe(7): a wait for room is enough to never block. False if that took too long.
fn write_in_time(output: &mut (impl Write + AsFd), text: &[u8], patience: &Timespec) -> bool {
    text.chunks(PIPE_BUF).all(|piece| {
        let mut fds = [PollFd::new(&*output, PollFlags::OUT)];
        let ready = retry_on_intr(|| poll(&mut fds, Some(patience))).is_ok_and(|ready| ready > 0);
        ready && output.write_all(piece).is_ok()
    })
}

fn chosen() -> MutexGuard<'static, Option<LogFile>> {
    CHOSEN.lock().unwrap_or_else(PoisonError::into_inner)
}

static CHOSEN: Mutex<Option<LogFile>> = Mutex::new(None);
static REOPEN: AtomicBool = AtomicBool::new(false);

const PIPE_BUF: usize = 4096;
const NO_PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
