//! Starting again when a file of the application changes, for development.
//!
//! A bell rings when something changes in a folder; what has changed, if anything, is seen by comparing the files with what they
//! were. Files that no bell rings for, as on some network file systems, are compared once a second.

mod bell;
mod compiled;
mod folder;
mod modules;
mod snapshot;
mod watched;

use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use pronghorn_engine::{Reason, Replacement};
use pyo3::prelude::*;

use self::bell::Stop;
use self::folder::Folder;
use self::modules::Imported;
use self::watched::Watched;
use crate::app::StartError;
use crate::settings::Settings;

/// Whether the folders to watch are there.
///
/// # Errors
/// One is not.
pub(crate) fn check(settings: &Settings) -> Result<(), StartError> {
    let missing = settings.reload_dir.iter().find(|path| !path.is_dir());
    missing.map_or(Ok(()), |path| {
        Err(StartError::new(format!(
            "cannot watch {}. There is no such folder. Check reload-dir.",
            path.display()
        )))
    })
}

/// What is odd in the settings, if anything: folders to watch, and nobody who watches.
pub(crate) fn oddity(settings: &Settings) -> Option<String> {
    let is_idle = !settings.reload && !settings.reload_dir.is_empty();
    is_idle.then(|| {
        "reload-dir does nothing without reload. Add --reload, or leave it out.".to_owned()
    })
}

/// Notes what the files of the application are like, before it is imported: no change after that goes unseen. Does nothing unless
/// `reload` is on.
pub(crate) fn note_files(settings: &Settings) {
    if settings.reload {
        *noted() = Some(begin(settings));
    }
}

/// Begins to ask for another process at each change since [`note_files`]; nothing without that.
pub(crate) fn watch(replacement: Replacement) -> Option<Watch> {
    let mut watched = noted().take()?;
    // Before anything is served: what requests import and make is told from what a start does.
    watched.take_imported();
    let stop = Stop::new().inspect_err(|error| cannot_watch(error)).ok()?;
    let theirs = stop.clone();
    let ask = move || {
        let mut last = None;
        while let Some(path) = watched.next_change(theirs.as_fd()) {
            log::info!("{} has changed: starting again", shown(&path));
            replacement.ask(Reason::Changed);
            last = Some(path);
        }
        watched.give_back(last);
        watched
    };
    let thread = thread::Builder::new().name("pronghorn-reload".to_owned()).spawn(ask);
    let thread = thread.inspect_err(|error| cannot_watch(error)).ok()?;
    Some(Watch { stop, thread })
}

/// Waits for a change since [`note_files`], for an application that could not be imported, or until there is something to read from
/// `orders`.
pub(crate) fn wait_for_change(py: Python<'_>, settings: &Settings, orders: BorrowedFd<'_>) {
    let noted = noted().take();
    let mut watched = noted.unwrap_or_else(|| begin(settings));
    watched.take_imported();
    watched.add_import_path(modules::import_path(py));
    log::info!("waiting for a change of the application's files");
    if let Some(path) = py.detach(|| watched.next_change(orders)) {
        log::info!("{} has changed: starting again", shown(&path));
    }
}

/// A thread that watches files.
#[derive(Debug)]
pub(crate) struct Watch {
    stop: Stop,
    thread: JoinHandle<Watched<Imported>>,
}

impl Watch {
    /// Ends it: it must not wait for an interpreter that ends. What it knows is kept for [`wait_for_change`].
    pub(crate) fn end(self, py: Python<'_>) {
        self.stop.stop();
        match py.detach(|| self.thread.join()) {
            Ok(watched) => *noted() = Some(watched),
            Err(_) => log::error!("the thread that watches files panicked; please report this"),
        }
    }
}

/// The Python files below `app-dir` and all files below each `reload-dir`, as they are now.
fn begin(settings: &Settings) -> Watched<Imported> {
    let app_dir = Folder::new(&settings.app_dir, false);
    let others = settings.reload_dir.iter().map(|path| Folder::new(path, true));
    Watched::new(std::iter::once(app_dir).chain(others).collect(), Imported::default())
}

/// Relative to the working directory, as a person names it.
fn shown(path: &Path) -> std::path::Display<'_> {
    let folder = std::env::current_dir().unwrap_or_default();
    path.strip_prefix(folder).unwrap_or(path).display()
}

fn cannot_watch(error: &dyn std::fmt::Display) {
    log::error!("the application's files cannot be watched: {error}");
}

fn noted() -> MutexGuard<'static, Option<Watched<Imported>>> {
    NOTED.lock().unwrap_or_else(PoisonError::into_inner)
}

static NOTED: Mutex<Option<Watched<Imported>>> = Mutex::new(None);
