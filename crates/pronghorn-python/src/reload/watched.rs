//! All that is watched, and the wait for a change of it.

use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

use super::bell::{Bell, Woken};
use super::folder::Folder;
use super::modules;
use super::snapshot::Snapshot;
use crate::settings::Settings;

/// The files of the application.
#[derive(Debug)]
pub(super) struct Watched {
    folders: Vec<Folder>,
    files: Snapshot,
    bell: Bell,
    modules: usize,
}

impl Watched {
    /// The Python files below `app-dir` and all files below each `reload-dir`, as they are now.
    pub(super) fn new(settings: &Settings) -> Self {
        let app_dir = Folder::new(&settings.app_dir, false);
        let others = settings.reload_dir.iter().map(|path| Folder::new(path, true));
        let folders = std::iter::once(app_dir).chain(others).collect();
        let mut watched =
            Self { folders, files: Snapshot::default(), bell: Bell::new(), modules: 0 };
        watched.walk();
        watched
    }

    /// Adds the folders that the application may be imported from: what failed to be imported is no imported module.
    pub(super) fn add_import_path(&mut self, py: Python<'_>) {
        for path in modules::import_path(py) {
            self.folders.push(Folder::new(&path, false));
        }
        self.walk();
    }

    /// Waits for a change, and gives one of the files; none if it was stopped.
    pub(super) fn next_change(&mut self, stop: BorrowedFd<'_>) -> Option<PathBuf> {
        loop {
            self.add_modules();
            let woken = self.bell.wait(LOOK_EVERY, stop);
            let made = match woken {
                Woken::Stopped => return None,
                Woken::Rung => {
                    self.settle(stop);
                    self.walk()
                }
                Woken::Time => None,
            };
            let changed = self.files.look().or(made);
            if changed.is_some() && woken == Woken::Time {
                // No bell rang for it: more of the same change may be on its way.
                self.settle(stop);
                self.files.look();
            }
            if changed.is_some() {
                return changed;
            }
        }
    }

    /// Waits until all that belongs together is written.
    fn settle(&mut self, stop: BorrowedFd<'_>) {
        let end = Instant::now() + LONGEST_CHANGE;
        while self.bell.wait(QUIET, stop) == Woken::Rung && Instant::now() < end {}
    }

    /// Looks for files that are new; gives one.
    fn walk(&mut self) -> Option<PathBuf> {
        let mut made = None;
        for folder in &self.folders {
            let found = folder.walk();
            for path in &found.folders {
                self.bell.listen(path, folder.any);
            }
            for path in found.files {
                if self.files.add(&path) {
                    made = Some(path);
                }
            }
        }
        made
    }

    /// Adds what was imported since the last look.
    fn add_modules(&mut self) {
        let known = self.modules;
        let found = Python::attach(|py| {
            let count = modules::count(py);
            (count != known).then(|| (count, modules::files(py)))
        });
        let Some((count, files)) = found else { return };
        self.modules = count;
        for file in files {
            if self.files.add(&file) {
                self.bell.listen(file.parent().unwrap_or(Path::new("/")), false);
            }
        }
    }
}

/// How often files are looked at that no bell rings for, and modules that were imported late.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A change is over when there was no other for so long.
const QUIET: Duration = Duration::from_millis(100);

/// Then it is taken as over.
const LONGEST_CHANGE: Duration = Duration::from_secs(1);
