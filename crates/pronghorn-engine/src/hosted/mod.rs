//! A server whose turns are taken by somebody else's event loop, the host: asyncio's.

mod blocked;
mod queue;
mod stand_in;

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::Ordering;
use std::sync::mpsc::Receiver;
use std::sync::{Arc, OnceLock};

pub use self::queue::Late;
pub(crate) use self::queue::{ForHost, Found};
pub(crate) use self::stand_in::Nap;
use self::stand_in::StandIn;
use crate::dialogue::Dialogue;
use crate::event_loop::{HOST, Progress};
use crate::metrics::WorkerState;
use crate::replacement::Reason;
use crate::sched::{EngineThread, FIRST, LAST_WORDS, cut};
use crate::server::Server;
use crate::shared::Shared;
use crate::sys::{self, Bell, Interest};
use crate::watchdog::start_watchdog;

/// The way from the server to its host.
pub(crate) struct HostLink {
    /// Readable when there is something for the host.
    pub(crate) bell: Bell,
    /// What the host wants to be told of besides.
    also: OnceLock<OwnedFd>,
    /// Its thread.
    thread: u64,
}

/// A server that runs in the thread of its host. What it finds for the application is taken with [`next`](Hosted::next).
pub struct Hosted {
    shared: Arc<Shared>,
    thread: EngineThread,
    stand_in: StandIn,
    watchdog_ended: Receiver<()>,
    /// The host was told of the drain.
    told_drain: bool,
}

/// Something for the application.
pub enum Occurrence {
    /// A request: its application can begin.
    Begun(Box<Dialogue>),
    /// What a dialogue waits for may have come: it tries again. Named by its number.
    Stirred(u64),
    /// Time has run out for a dialogue, which may have ended by now.
    Late(u64, Late),
    /// The server drains from now on.
    Draining,
}

impl Server {
    /// Serves in the calling thread, whose event loop takes the turns, until [`Hosted::is_over`].
    ///
    /// # Errors
    /// A thread to watch over this one could not be started.
    pub fn host(self) -> io::Result<Hosted> {
        let (shared, kept) = self.into_parts();
        shared.event_loop().for_host = Some(ForHost::default());
        let link =
            HostLink { bell: Bell::new()?, also: OnceLock::new(), thread: sys::thread_ident() };
        let _ = shared.host.set(link);
        let watchdog_ended = start_watchdog(&shared)?;
        let stand_in = StandIn::start(&shared)?;
        if let Some(metrics) = &shared.config.metrics {
            metrics.set_state(WorkerState::Ready);
        }
        let mut thread = EngineThread::new(shared.clone(), FIRST);
        thread.begin_hosted();
        let mut event_loop = shared.event_loop();
        event_loop.adopt(kept);
        // The host has no other reason to look.
        if event_loop.rings_bell() {
            shared.ring();
        }
        drop(event_loop);
        Ok(Hosted { shared, thread, stand_in, watchdog_ended, told_drain: false })
    }
}

impl Hosted {
    /// Readable when there is something to [`poll`](Hosted::poll) for.
    pub fn selector(&self) -> BorrowedFd<'_> {
        (*self.shared.selector).as_fd()
    }

    /// Readable when something was found outside of the host's turns: call [`hush`](Hosted::hush), then [`next`](Hosted::next).
    pub fn bell(&self) -> BorrowedFd<'_> {
        self.link().bell.as_fd()
    }

    /// Makes the bell ring anew.
    pub fn hush(&self) {
        self.link().bell.clear();
    }

    /// Has [`poll`](Hosted::poll) tell of `fd` too, as long as that is readable.
    ///
    /// # Errors
    /// The system's.
    pub fn watch_also(&self, fd: BorrowedFd<'_>) -> io::Result<()> {
        let owned = fd.try_clone_to_owned()?;
        let fd = self.link().also.get_or_init(|| owned);
        self.shared.selector.add(fd, HOST, Interest::Listen)
    }

    /// Waits for events, at most for `millis` milliseconds; `None` is without end, 0 only looks. Gives whether there are any. To be
    /// called detached when it may wait.
    pub fn poll(&mut self, millis: Option<u64>) -> bool {
        self.stand_in.host_is_here();
        self.thread.poll_for_host(millis)
    }

    /// Whether the descriptor of [`watch_also`](Hosted::watch_also) was found readable since this was asked last.
    pub fn takes_other(&mut self) -> bool {
        std::mem::take(&mut self.thread.host_is_called)
    }

    /// The next thing for the application; none when the turn is over.
    #[expect(clippy::should_implement_trait, reason = "a turn ends and the next begins")]
    pub fn next(&mut self) -> Option<Occurrence> {
        if !self.told_drain && self.shared.is_draining() {
            self.told_drain = true;
            return Some(Occurrence::Draining);
        }
        self.stand_in.host_is_here();
        loop {
            let (found, progress) = self.thread.host_step();
            match found {
                Some(Found::Begun(begun)) => {
                    let mut dialogue = Box::new(Dialogue::new(self.shared.clone(), begun));
                    if self.is_overdue() {
                        // It was told as cut.
                        dialogue.abort();
                    } else if !dialogue.summary().is_given_up() {
                        return Some(Occurrence::Begun(dialogue));
                    }
                    dialogue.end();
                }
                Some(Found::Stirred(number)) => return Some(Occurrence::Stirred(number)),
                Some(Found::Late(number, late)) => return Some(Occurrence::Late(number, late)),
                None if progress == Progress::Done => return None,
                None => {}
            }
        }
    }

    /// Asks for another process in the place of this one; false if nobody is there to be asked.
    pub fn ask_for_replacement(&self, reason: Reason) -> bool {
        let replacement = self.shared.config.replacement.as_ref();
        replacement.inspect(|replacement| replacement.ask(reason)).is_some()
    }

    /// Whether the server has drained: nothing comes any more.
    pub fn is_over(&self) -> bool {
        self.shared.sched().stopping()
    }

    /// Whether the drain takes longer than it may: what is left is to be ended now.
    pub fn is_overdue(&self) -> bool {
        self.shared.is_overdue.load(Ordering::Relaxed)
    }

    /// Ends what watches over the host, which is attached. If connections were cut, this ends the process.
    pub fn end(mut self) {
        self.thread.end_hosted();
        self.stand_in.dismiss();
        self.shared.watch.stop();
        // Whom the watchdog sent for stacks needs the interpreter for its own end.
        self.shared.handler.detach();
        // It may wait for an interpreter that is not to be had.
        let _ = self.watchdog_ended.recv_timeout(LAST_WORDS);
        self.shared.handler.attach();
        drop(self.thread);
        if self.shared.is_cut.load(Ordering::Relaxed) {
            cut(&self.shared.config, self.shared.hurried.load(Ordering::Relaxed));
        }
        self.shared.config.close_logs();
    }

    fn link(&self) -> &HostLink {
        // Set when this was made.
        self.shared.host.get().expect("a server with a host has a way to it")
    }
}
