//! A folder of the application, with all that is below it.

use std::fs::{self, DirEntry};
use std::path::{Path, PathBuf};

use super::compiled::is_source;

/// A folder whose files count as the application's.
#[derive(Debug, Clone)]
pub(super) struct Folder {
    pub(super) path: PathBuf,
    /// Whether every file counts, or only those of Python.
    pub(super) any: bool,
}

impl Folder {
    pub(super) fn new(path: &Path, any: bool) -> Self {
        Self { path: path.canonicalize().unwrap_or_else(|_| path.to_owned()), any }
    }

    /// All files that count. `enter` is told of each folder they are in or may come to be in before it is read, so that no file comes
    /// to be unseen in between. Links to folders are not followed.
    pub(super) fn walk(&self, mut enter: impl FnMut(&Path)) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let mut folders = vec![self.path.clone()];
        let mut next = 0;
        while let Some(folder) = folders.get(next).filter(|_| folders.len() < MOST) {
            next += 1;
            enter(folder);
            let entries = fs::read_dir(folder).into_iter().flatten().flatten();
            for entry in entries.collect::<Vec<_>>() {
                self.take(&entry, &mut files, &mut folders);
            }
        }
        files
    }

    fn take(&self, entry: &DirEntry, files: &mut Vec<PathBuf>, folders: &mut Vec<PathBuf>) {
        let path = entry.path();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        match is_folder {
            true if is_written(&path) => folders.push(path),
            true => {}
            false if self.any || is_source(&path) => files.push(path),
            false => {}
        }
    }
}

/// Hidden folders, virtual environments and what tools fill by the thousand are not written by hand.
fn is_written(folder: &Path) -> bool {
    let name = folder.file_name().unwrap_or_default().as_encoded_bytes();
    let is_made = matches!(name, b"__pycache__" | b"node_modules");
    !is_made && !name.starts_with(b".") && !folder.join("pyvenv.cfg").exists()
}

/// More folders than this are not the application's: it was started in a place such as the home folder.
const MOST: usize = 5_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_made_when_its_folder_is_listened_to_is_found() {
        let place = std::env::temp_dir().join(format!("pronghorn-{}-walk", std::process::id()));
        fs::create_dir_all(place.join("below")).expect("a folder");
        let make = |folder: &Path| fs::write(folder.join("made.py"), "").expect("a file");
        let found = Folder { path: place.clone(), any: false }.walk(make);
        assert_eq!(found, [place.join("made.py"), place.join("below/made.py")]);
        fs::remove_dir_all(&place).expect("a folder");
    }
}
