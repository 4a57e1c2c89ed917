//! A bell that rings when something changes in a folder (inotify(7)).

use std::collections::HashMap;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::{Errno, retry_on_intr};

/// The folders that are listened to.
#[derive(Debug, Default)]
pub(super) struct Bell {
    /// None if the system has none left, or after a failure: then there is no bell.
    inotify: Option<OwnedFd>,
    /// Which of the folders ring for every file.
    any: HashMap<i32, bool>,
    folders: HashMap<PathBuf, i32>,
}

/// What ended a wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Woken {
    /// The bell.
    Rung,
    /// The time.
    Time,
    /// It is to stop.
    Stopped,
}

impl Bell {
    pub(super) fn new() -> Self {
        let inotify = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok();
        Self { inotify, ..Self::default() }
    }

    /// Rings from now on for the Python files in `folder`, or for `any` file, but not for those in folders below.
    pub(super) fn listen(&mut self, folder: &Path, any: bool) {
        let Some(inotify) = &self.inotify else { return };
        if let Some(number) = self.folders.get(folder) {
            *self.any.entry(*number).or_default() |= any;
            return;
        }
        match inotify::add_watch(inotify, folder, CHANGES) {
            Ok(number) => {
                *self.any.entry(number).or_default() |= any;
                self.folders.insert(folder.to_owned(), number);
            }
            Err(Errno::NOENT | Errno::ACCESS | Errno::NOTDIR) => {}
            Err(error) => {
                log::warn!(
                    "changes are noticed a second late: {error}. Raise fs.inotify.max_user_watches"
                );
                self.inotify = None;
            }
        }
    }

    /// Waits until it rings, for `most`, or until there is something to read from `stop`.
    pub(super) fn wait(&mut self, most: Duration, stop: BorrowedFd<'_>) -> Woken {
        let end = Instant::now() + most;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if self.poll(left, stop) {
                return Woken::Stopped;
            }
            if self.has_rung() {
                return Woken::Rung;
            }
            if left.is_zero() {
                return Woken::Time;
            }
        }
    }

    /// Waits; whether it is to stop.
    fn poll(&self, most: Duration, stop: BorrowedFd<'_>) -> bool {
        let sources = std::iter::once(stop).chain(self.inotify.iter().map(AsFd::as_fd));
        let mut fds: Vec<_> =
            sources.map(|source| PollFd::from_borrowed_fd(source, PollFlags::IN)).collect();
        // However it ends, what there is is looked at.
        let _ = poll(&mut fds, Timespec::try_from(most).ok().as_ref());
        !fds[0].revents().is_empty()
    }

    /// Takes what has come; whether any of it is of interest.
    fn has_rung(&mut self) -> bool {
        let Some(inotify) = &self.inotify else { return false };
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(inotify, &mut buffer);
        let mut rung = false;
        while let Ok(event) = reader.next() {
            let flags = event.events();
            if flags.contains(ReadFlags::IGNORED) {
                // The folder has gone; one of its name may come.
                self.folders.retain(|_, number| *number != event.wd());
                self.any.remove(&event.wd());
            }
            let is_python = event.file_name().is_some_and(|name| name.to_bytes().ends_with(b".py"));
            let any = self.any.get(&event.wd()).copied().unwrap_or_default();
            rung |=
                is_python || any || flags.intersects(ReadFlags::ISDIR | ReadFlags::QUEUE_OVERFLOW);
        }
        rung
    }
}

/// Editors write in place, or write another file and rename it.
const CHANGES: WatchFlags = WatchFlags::CLOSE_WRITE
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVED_FROM)
    .union(WatchFlags::MOVED_TO)
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::ONLYDIR);

/// Ends a wait from another thread, for good.
#[derive(Debug, Clone)]
pub(super) struct Stop(Arc<OwnedFd>);

impl Stop {
    pub(super) fn new() -> rustix::io::Result<Self> {
        Ok(Self(Arc::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?)))
    }

    pub(super) fn stop(&self) {
        // It has room for one.
        let _ = retry_on_intr(|| rustix::io::write(&*self.0, &1u64.to_ne_bytes()));
    }
}

impl AsFd for Stop {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
