//! The file that holds the process id of whoever is to be sent signals.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use crate::app::StartError;
use crate::settings::reason;

/// A process id written to a file. Dropped, it removes the file, unless that holds another number by now, or this process was forked
/// from the one that wrote it.
#[derive(Debug)]
pub(crate) struct PidFile {
    path: PathBuf,
    pid: u32,
}

impl PidFile {
    /// Writes this process's id to `path`. A file of a process that has ended is replaced.
    ///
    /// # Errors
    /// The file names a process that runs, is something else than such a file, or cannot be written.
    pub(crate) fn create(path: &Path) -> Result<Self, StartError> {
        let path = std::path::absolute(path).map_err(|error| cannot_write(path, &error))?;
        // Of two that start at once the second one sees what the first has written.
        let _alone = pronghorn_engine::lock_folder(folder(&path));
        match read(&path)? {
            Some(pid) if pid != own() && is_running(pid) => Err(StartError::new(format!(
                "the process id cannot be written to {}. It holds {pid}, a process that runs. \
                 Stop that one, or choose another file with --pid.",
                path.display()
            ))),
            _ => Self::take_over(&path),
        }
    }

    /// Writes this process's id to `path`, whatever process it names.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(crate) fn take_over(path: &Path) -> Result<Self, StartError> {
        let path = std::path::absolute(path).map_err(|error| cannot_write(path, &error))?;
        write(&path).map_err(|error| cannot_write(&path, &error))?;
        Ok(Self { path, pid: own() })
    }
}

impl Drop for PidFile {
    fn drop(&mut self) {
        let is_own =
            self.pid == own() && matches!(read(&self.path), Ok(Some(pid)) if pid == self.pid);
        if is_own && let Err(error) = fs::remove_file(&self.path) {
            log::warn!("{} could not be removed: {error}", self.path.display());
        }
    }
}

/// The number in the file; none if there is no file, or nothing in it.
fn read(path: &Path) -> Result<Option<u32>, StartError> {
    let text = match fs::metadata(path) {
        Ok(found) if found.is_file() => fs::read_to_string(path),
        Ok(_) => return Err(not_a_pid_file(path)),
        Err(error) => Err(error),
    };
    match text {
        Ok(text) if text.trim().is_empty() => Ok(None),
        Ok(text) => text.trim().parse().map(Some).map_err(|_| not_a_pid_file(path)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == ErrorKind::InvalidData => Err(not_a_pid_file(path)),
        Err(error) => Err(cannot_write(path, &error)),
    }
}

/// All of it appears at once, under its name.
fn write(path: &Path) -> io::Result<()> {
    let mut draft = path.as_os_str().to_owned();
    draft.push(format!(".{}", own()));
    let draft = PathBuf::from(draft);
    let written = File::create_new(&draft)
        .and_then(|mut file| file.write_all(format!("{}\n", own()).as_bytes()))
        .and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

/// A process of another user counts too.
fn is_running(pid: u32) -> bool {
    let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| !matches!(test_kill_process(pid), Err(Errno::SRCH)))
}

fn own() -> u32 {
    std::process::id()
}

fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(path)
}

fn not_a_pid_file(path: &Path) -> StartError {
    StartError::new(format!(
        "the process id cannot be written to {}. There is something else, which was left alone. \
         Choose another file with --pid.",
        path.display()
    ))
}

fn cannot_write(path: &Path, error: &io::Error) -> StartError {
    let reason = match error.kind() {
        ErrorKind::NotFound => "Its folder does not exist.".to_owned(),
        _ => reason(error),
    };
    StartError::new(format!(
        "the process id cannot be written to {}. {reason} Check pid.",
        path.display()
    ))
}
