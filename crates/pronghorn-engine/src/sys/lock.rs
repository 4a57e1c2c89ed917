//! One at a time, over processes.

use std::fs::{File, TryLockError};
use std::io::ErrorKind;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Keeps other servers out of `folder` as long as what is returned lives, so that look and change are one step. None if that is not
/// to be had: the folder cannot be read or locked, or another program holds the lock for too long.
pub fn lock_folder(folder: &Path) -> Option<File> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let folder = File::open(folder).ok()?;
    let end = Instant::now() + PATIENCE;
    loop {
        match folder.try_lock() {
            Ok(()) => return Some(folder),
            Err(TryLockError::WouldBlock) if Instant::now() < end => sleep(PAUSE),
            Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}

const PATIENCE: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(2);
