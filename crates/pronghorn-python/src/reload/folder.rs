//! A folder of the application, with all that is below it.

use std::ffi::OsStr;
use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

/// A folder whose files count as the application's.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    pub(super) path: PathBuf,
    /// Whether every file counts, or only those of Python.
    pub(super) any: bool,
}

/// What is found in a folder.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) files: Vec<PathBuf>,
    /// The folder and those below it.
    pub(super) folders: Vec<PathBuf>,
}

impl Folder {
    pub(super) fn new(path: &Path, any: bool) -> Self {
        Self { path: path.canonicalize().unwrap_or_else(|_| path.to_owned()), any }
    }

    /// All files that count, and the folders they are in or may come to be in. Links to folders are not followed.
    pub(super) fn walk(&self) -> Found {
        let mut found = Found { folders: vec![self.path.clone()], ..Found::default() };
        let mut next = 0;
        while let Some(folder) = found.folders.get(next).filter(|_| found.folders.len() < MOST) {
            next += 1;
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            for entry in entries.collect::<Vec<_>>() {
                self.take(&entry, &mut found);
            }
        }
        found
    }

    fn take(&self, entry: &DirEntry, found: &mut Found) {
        let path = entry.path();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        match is_folder {
            true if is_source(&path) => found.folders.push(path),
            true => {}
            false if self.any || path.extension() == Some(OsStr::new("py")) => {
                found.files.push(path);
            }
            false => {}
        }
    }
}

/// Hidden folders, virtual environments and what tools fill by the thousand are not written by hand.
fn is_source(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().as_encoded_bytes();
    let is_made = matches!(name, b"__pycache__" | b"node_modules");
    !is_made && !name.starts_with(b".") && !folder.join("pyvenv.cfg").exists()
}

/// More folders than this are not the application's: it was started in a place such as the home folder.
const MOST: usize = 5_000;
