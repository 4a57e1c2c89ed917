//! What files were like when they were last looked at.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// Files, and how each was.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    files: HashMap<PathBuf, Option<Stamp>>,
}

/// What is different after a file was written, or another was put in its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: (i64, i64),
    size: u64,
    inode: u64,
}

impl Snapshot {
    /// Whether `path` is looked after.
    pub(super) fn knows(&self, path: &Path) -> bool {
        self.files.contains_key(path)
    }

    /// Looks after `path` too from now on. True if it was not known.
    pub(super) fn add(&mut self, path: &Path) -> bool {
        let is_new = !self.knows(path);
        if is_new {
            self.files.insert(path.to_owned(), stamp(path));
        }
        is_new
    }

    /// Looks at all files; gives one that is not as it was, if there is one.
    pub(super) fn look(&mut self) -> Option<PathBuf> {
        let mut changed = None;
        for (path, known) in &mut self.files {
            let now = stamp(path);
            if std::mem::replace(known, now) != now {
                changed = Some(path.clone());
            }
        }
        changed
    }
}

/// None where there is no file.
fn stamp(path: &Path) -> Option<Stamp> {
    let found = fs::metadata(path).ok()?;
    Some(Stamp {
        modified: (found.mtime(), found.mtime_nsec()),
        size: found.size(),
        inode: found.ino(),
    })
}
