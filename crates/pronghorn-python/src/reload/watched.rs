//! All that is watched, and the wait for a change of it.

use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::bell::{Bell, Woken};
use super::compiled::{FileTime, is_newer, is_outdated, is_source};
use super::folder::Folder;
use super::snapshot::Snapshot;

/// The files of the application.
#[derive(Debug)]
pub(super) struct Watched<M> {
    folders: Vec<Folder>,
    files: Snapshot,
    bell: Bell,
    modules: M,
    /// When this began, before anything was imported.
    since: FileTime,
    /// A change that was found already.
    found: Option<PathBuf>,
}

/// What Python has imported.
pub(super) trait Modules {
    /// The files of all modules, if any was imported since the last call.
    fn files(&mut self) -> Option<Vec<PathBuf>>;
    /// Where Python keeps what it compiles the file to; none if it keeps nothing.
    fn compiled(&self, file: &Path) -> Option<PathBuf>;
}

impl<M: Modules> Watched<M> {
    /// The files of the folders as they are now, and from now on what is imported.
    pub(super) fn new(folders: Vec<Folder>, modules: M) -> Self {
        let mut watched = Self {
            folders,
            files: Snapshot::default(),
            bell: Bell::new(),
            modules,
            since: FileTime::now(),
            found: None,
        };
        watched.walk();
        watched
    }

    /// Watches all that is imported by now. What the application made and imported itself while it was imported is no change.
    pub(super) fn take_imported(&mut self) {
        let files = self.modules.files().unwrap_or_default();
        let changed = self.add_modules(files);
        self.give_back(changed);
    }

    /// Watches the folders that the application may be imported from: what failed to be imported is no imported module. What was
    /// changed there in the meantime may be the repair.
    pub(super) fn add_import_path(&mut self, folders: Vec<PathBuf>) {
        let made = self.walk();
        self.give_back(made);
        self.folders.extend(folders.iter().map(|path| Folder::new(path, false)));
        let changed = self.walk_for(|watched, path| watched.is_changed(path).unwrap_or(true));
        self.give_back(changed);
    }

    /// The next wait ends at once with this change.
    pub(super) fn give_back(&mut self, changed: Option<PathBuf>) {
        self.found = changed.or(self.found.take());
    }

    /// Waits for a change, and gives one of the files; none if it was stopped.
    pub(super) fn next_change(&mut self, stop: BorrowedFd<'_>) -> Option<PathBuf> {
        loop {
            let missed = self.see_to_modules();
            self.give_back(missed);
            let found = self.found.take();
            let woken = match found {
                Some(_) => Woken::Time,
                None => self.bell.wait(LOOK_EVERY, stop),
            };
            let made = match woken {
                Woken::Stopped => return None,
                Woken::Rung => {
                    self.settle(stop);
                    self.walk()
                }
                Woken::Time => found,
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
        self.walk_for(|_, _| true)
    }

    /// Looks for files that are new; gives one that is wanted.
    fn walk_for(&mut self, is_wanted: impl Fn(&Self, &Path) -> bool) -> Option<PathBuf> {
        let mut made = None;
        for folder in self.folders.clone() {
            for path in folder.walk(|below| self.bell.listen(below, folder.any)) {
                if self.files.add(&path) && is_wanted(self, &path) {
                    made = Some(path);
                }
            }
        }
        made
    }

    /// Watches what was imported since the last look. Gives a file that is new in a folder, or not any more what was imported.
    fn see_to_modules(&mut self) -> Option<PathBuf> {
        let files = self.modules.files()?;
        let is_any_new = files.iter().any(|file| !self.files.knows(file));
        // First, as a new file counts as made even if it was imported meanwhile.
        let made = is_any_new.then(|| self.walk()).flatten();
        self.add_modules(files).or(made)
    }

    /// Gives one that is not any more what was imported.
    fn add_modules(&mut self, files: Vec<PathBuf>) -> Option<PathBuf> {
        let mut changed = None;
        for file in files {
            if !self.files.knows(&file) {
                self.bell.listen(file.parent().unwrap_or(Path::new("/")), false);
                self.files.add(&file);
                if self.is_changed(&file).unwrap_or(false) {
                    changed = Some(file);
                }
            }
        }
        changed
    }

    /// Whether the file was changed since this began, and is not what Python has compiled; none if nobody knows what that was. What did
    /// not change since then is not older than what was imported, whatever is left from before of compiled code.
    fn is_changed(&self, file: &Path) -> Option<bool> {
        if !is_newer(file, self.since) {
            return Some(false);
        }
        let compiled = self.modules.compiled(file).filter(|_| is_source(file));
        is_outdated(&compiled?, file)
    }
}

/// How often files are looked at that no bell rings for, and modules that were imported late.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A change is over when there was no other for so long.
const QUIET: Duration = Duration::from_millis(100);

/// Then it is taken as over.
const LONGEST_CHANGE: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

    /// An application that imports what it is told to.
    #[derive(Debug, Default)]
    struct Told {
        files: Vec<PathBuf>,
        compiled: PathBuf,
    }

    impl Modules for Told {
        fn files(&mut self) -> Option<Vec<PathBuf>> {
            Some(std::mem::take(&mut self.files))
        }

        fn compiled(&self, _: &Path) -> Option<PathBuf> {
            Some(self.compiled.clone())
        }
    }

    /// A folder that is watched, with one that is not beside it.
    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> (Self, Watched<Told>) {
            let path =
                std::env::temp_dir().join(format!("pronghorn-{}-{name}", std::process::id()));
            let place = Self(path);
            fs::create_dir_all(place.0.join("inside")).expect("a folder");
            let folder = Folder::new(&place.0.join("inside"), false);
            (place, Watched::new(vec![folder], Told::default()))
        }

        fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
            let path = self.0.canonicalize().expect("a folder").join(name);
            fs::write(&path, content).expect("a file");
            path
        }

        /// What Python writes when it has imported the file.
        fn compile(&self, source: &Path, flags: u32) -> PathBuf {
            let found = fs::metadata(source).expect("a source");
            let words = [0xa7, flags, found.mtime() as u32, found.size() as u32];
            self.write("compiled", words.map(u32::to_le_bytes).concat())
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_file_that_is_made_counts_though_it_is_imported_before_anybody_looks() {
        let (place, mut watched) = Place::new("made");
        let late = place.write("inside/late.py", "1");
        watched.modules.files = vec![late.clone()];
        assert_eq!(watched.see_to_modules(), Some(late.clone()));
        watched.modules.files = vec![late];
        assert_eq!(watched.see_to_modules(), None);
    }

    #[test]
    fn a_source_that_is_not_what_was_compiled_has_changed() {
        let (place, mut watched) = Place::new("compiled");
        let source = place.write("part.py", "1");
        watched.modules.compiled = place.compile(&source, 0);
        assert_eq!(watched.add_modules(vec![source.clone()]), None);
        place.write("part.py", "1 + 1");
        assert_eq!(watched.add_modules(vec![source.clone()]), None, "it is known");
        watched.files = Snapshot::default();
        assert_eq!(watched.add_modules(vec![source.clone()]), Some(source.clone()));
        fs::remove_file(&source).expect("a source");
        watched.files = Snapshot::default();
        assert_eq!(watched.add_modules(vec![source]), None, "a file that is gone is no news");
    }

    #[test]
    fn without_proof_what_is_found_is_taken_as_it_is() {
        let (place, mut watched) = Place::new("unproved");
        let source = place.write("part.py", "1");
        assert_eq!(watched.is_changed(&source), None, "nothing is compiled");
        watched.modules.compiled = place.compile(&source, 1);
        place.write("part.py", "1 + 1");
        assert_eq!(watched.is_changed(&source), None, "it goes by the hash");
        watched.modules.compiled = place.write("compiled", "short");
        assert_eq!(watched.is_changed(&source), None, "it is cut");
    }

    #[test]
    fn what_is_left_of_compiled_code_from_before_says_nothing() {
        let (place, mut watched) = Place::new("before");
        let source = place.write("part.py", "1");
        watched.modules.compiled = place.compile(&source, 0);
        place.write("part.py", "1 + 1");
        assert_eq!(watched.is_changed(&source), Some(true));
        let found = fs::metadata(&source).expect("a source");
        watched.since = FileTime(found.ctime(), found.ctime_nsec() + 1);
        assert_eq!(watched.is_changed(&source), Some(false));
    }
}
