//! What a module was made of, as the file of its compiled code says (PEP 552).

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::time::{ClockId, clock_gettime};

/// A time as the system notes it of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileTime(pub(super) i64, pub(super) i64);

impl FileTime {
    /// Never later than what a file gets that changes from now on: files get the time of the last tick.
    pub(super) fn now() -> Self {
        let now = clock_gettime(ClockId::RealtimeCoarse);
        Self(now.tv_sec, now.tv_nsec)
    }

    /// When the file was written, or put where it is.
    fn of(found: &Metadata) -> Self {
        Self(found.ctime(), found.ctime_nsec())
    }
}

/// Whether the file was written, or put there, at that time or later.
pub(super) fn is_newer(path: &Path, time: FileTime) -> bool {
    path.metadata().is_ok_and(|found| FileTime::of(&found) >= time)
}

/// Whether `compiled` says which source it was made of, and `source` is another one by now. None if it does not say.
pub(super) fn is_outdated(compiled: &Path, source: &Path) -> Option<bool> {
    let mut head = [0; 16];
    File::open(compiled).and_then(|mut file| file.read_exact(&mut head)).ok()?;
    let word = |place: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| head[place + byte]));
    if word(4) != BY_TIME {
        return None;
    }
    let Ok(now) = source.metadata() else { return Some(true) };
    // Of both the lower 32 bits are kept.
    Some((word(8), word(12)) != (now.mtime() as u32, now.size() as u32))
}

/// Whether the file is one that Python compiles.
pub(super) fn is_source(path: &Path) -> bool {
    path.extension() == Some(OsStr::new("py"))
}

/// The flags of code that is valid as long as its source has the same time and size; others go by a hash of it.
const BY_TIME: u32 = 0;
