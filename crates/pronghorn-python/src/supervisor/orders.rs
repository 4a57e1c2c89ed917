//! What the supervisor is told by signals, which have gunicorn's meanings.

use std::path::Path;

use pronghorn_engine::{INTERRUPTED, Order, millis};
use pyo3::prelude::*;
use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;

use super::Supervisor;
use super::fleet::Ending;
use super::succession::{Progress, Successor};
use crate::logging;

/// The signals that are acted on.
pub(super) const SIGNALS: &[i32] = &[
    Signal::TERM.as_raw(),
    Signal::INT.as_raw(),
    Signal::QUIT.as_raw(),
    Signal::HUP.as_raw(),
    Signal::TTIN.as_raw(),
    Signal::TTOU.as_raw(),
    Signal::USR1.as_raw(),
    Signal::USR2.as_raw(),
    Signal::WINCH.as_raw(),
    Signal::ABORT.as_raw(),
    Signal::CHILD.as_raw(),
];

impl Supervisor {
    pub(super) fn see_to_orders(&mut self, py: Python<'_>) {
        while let Some(signal) = self.signals.take() {
            match Signal::from_named_raw(signal) {
                Some(Signal::TERM) => self.end_gracefully(),
                Some(Signal::INT) => self.end_quickly(INTERRUPT),
                Some(Signal::QUIT) => self.end_quickly(QUIT),
                Some(Signal::HUP) => self.reload(py),
                Some(Signal::TTIN) => self.resize("SIGTTIN", self.wanted + 1),
                Some(Signal::TTOU) => self.resize("SIGTTOU", self.wanted - 1),
                Some(Signal::USR1) => self.reopen_logs(),
                Some(Signal::USR2) => self.hand_over(py),
                Some(Signal::WINCH) => self.pause(),
                Some(Signal::ABORT) => self.processes.signal_all(Signal::ABORT),
                // The workers are looked at after every wait.
                _ => {}
            }
        }
    }

    fn end_gracefully(&mut self) {
        if self.fleet.ending().is_some() {
            return;
        }
        if self.ends_at.is_some() {
            // Who says it again does not want to wait for the delay.
            return self.end(Ending::Graceful);
        }
        log::info!("SIGTERM: finishing the requests in flight");
        self.notifier.stopping();
        self.give_up_successor();
        let delay = self.configuration.settings.drain_delay;
        self.ends_at = Some(self.now().saturating_add(millis(delay)));
        if !delay.is_zero() {
            self.processes.tell_all(Order::FailHealth);
        }
    }

    fn end_quickly(&mut self, by: &str) {
        let asked = match self.fleet.ending() {
            None if self.ends_at.is_some() => Some(Ending::Graceful),
            ending => ending,
        };
        let enough = if by == INTERRUPT { Ending::Graceful } else { Ending::Quick };
        if asked >= Some(enough) {
            return self.end_at_once(by);
        }
        log::info!("{by}: finishing what ends within a second");
        self.notifier.stopping();
        self.end(Ending::Quick);
    }

    /// Who asks twice does not want to wait; who sends QUIT twice wants to know what is waited for.
    fn end_at_once(&mut self, by: &str) {
        log::warn!("{by}: ending at once");
        let is_quit = by == QUIT;
        if is_quit {
            self.processes.signal_all(Signal::ABORT);
        }
        self.forced = Some(if is_quit { pronghorn_engine::QUIT } else { INTERRUPTED });
        self.end(Ending::Quick);
        let then = self.now() + if is_quit { STACKS } else { 0 };
        self.fleet.kill_all(then);
    }

    /// Ends everything: new connections are refused as soon as the workers have taken in those that wait.
    pub(super) fn end(&mut self, how: Ending) {
        self.ends_at = None;
        self.give_up_successor();
        self.end_listeners();
        let now = self.now();
        self.fleet.end(how, now);
    }

    /// What is to end is the server, whoever was about to run it.
    fn give_up_successor(&mut self) {
        if let Some(successor) = self.successor.take() {
            log::info!("supervisor {}, which was to take over, ends too", successor.pid());
            successor.end();
        }
    }

    /// Processes that the application forked may hold them and outlive this one. A worker knows when what waits is taken in.
    fn end_listeners(&mut self) {
        let are_ours = self.predecessor.is_none() && !self.listeners.is_empty();
        match self.fleet.serving_ids().next() {
            Some(_) if are_ours => self.processes.tell_all(Order::EndListeners),
            None if are_ours => self.listeners.end(),
            _ => {}
        }
        self.listeners.close();
    }

    pub(super) fn see_to_time(&mut self) {
        let now = self.now();
        if self.ends_at.is_some_and(|at| at <= now) {
            self.end(Ending::Graceful);
        }
        if self.notifier.watchdog_interval().is_some() {
            self.notifier.watchdog();
        }
        self.see_to_memory(now);
    }

    fn reload(&mut self, py: Python<'_>) {
        if self.fleet.ending().is_some() {
            return;
        }
        log::info!("SIGHUP: reading settings and code anew");
        self.notifier.reloading();
        self.settled = false;
        let Err(error) = self.try_reload(py) else { return };
        log::error!("the settings were not changed, and the workers stay: {error}");
        self.return_to_folder();
    }

    fn try_reload(&mut self, py: Python<'_>) -> Result<(), crate::start::Failure> {
        let configuration = self.source.read(py)?;
        if self.board.is_none() {
            self.board = super::board(&configuration.settings)?;
        }
        let addresses = configuration.addresses(&self.systemd);
        // Those not wanted any more are closed here; workers that have them go on until they are replaced.
        drop(self.listeners.change(&addresses, &configuration.manner)?);
        self.configuration = configuration;
        self.wanted = self.configuration.settings.workers as usize;
        let (patience, now) = (super::patience(&self.configuration.settings), self.now());
        self.fleet.reload(self.wanted, patience, now);
        Ok(())
    }

    /// The folder is changed before everything is known to be right.
    fn return_to_folder(&self) {
        let settings = &self.configuration.settings;
        let folder = settings.chdir.as_deref().unwrap_or(Path::new(""));
        if let Err(error) = std::env::set_current_dir(self.source.folder.join(folder)) {
            log::error!("the folder could not be changed back: {error}");
        }
    }

    fn resize(&mut self, by: &str, wanted: usize) {
        if self.fleet.ending().is_some() || wanted == 0 {
            log::info!("{by}: there is one worker at least");
            return;
        }
        if wanted < self.wanted && self.fleet.is_paused() {
            log::info!("{by}: there is no worker; SIGHUP or SIGTTIN starts them");
            return;
        }
        self.wanted = wanted;
        self.settled = false;
        log::info!("{by}: {wanted} workers from now on");
        let now = self.now();
        self.fleet.resize(wanted, now);
    }

    /// A terminal sends this signal whenever its window changes: it is meant only where there is none.
    fn pause(&mut self) {
        if has_terminal() || self.fleet.ending().is_some() {
            log::debug!("SIGWINCH is ignored, as the server runs in a terminal");
            return;
        }
        log::info!("SIGWINCH: the workers drain, and none is started until SIGHUP or SIGTTIN");
        let now = self.now();
        self.fleet.resize(0, now);
    }

    fn reopen_logs(&self) {
        logging::reopen();
        // A signal would be lost on one that imports the application: it has its logs open already.
        self.processes.tell_all(Order::Reopen);
    }

    /// Starts the supervisor that is to take the place of this one.
    fn hand_over(&mut self, py: Python<'_>) {
        if self.fleet.ending().is_some() || self.successor.is_some() {
            return;
        }
        if std::process::id() == 1 {
            log::error!(
                "SIGUSR2: process 1 cannot be replaced, as its end ends the container. Replace the container, or send SIGHUP"
            );
            return;
        }
        match Successor::start(py, &self.source.folder, &self.listeners, &self.signals) {
            Ok(successor) => {
                log::info!("SIGUSR2: supervisor {} is started to take over", successor.pid());
                self.successor = Some(successor);
            }
            Err(error) => log::error!("SIGUSR2: the new supervisor could not be started: {error}"),
        }
    }

    pub(super) fn see_to_successor(&mut self) {
        let Some(successor) = &mut self.successor else { return };
        match successor.progress() {
            Progress::Underway => {}
            Progress::Failed => {
                log::error!(
                    "the new supervisor ended before it was ready; this one and its workers stay"
                );
                self.successor = None;
            }
            Progress::Ready => {
                log::info!("supervisor {} has taken over", successor.pid());
                self.notifier.main_pid(successor.pid());
                self.listeners.hand_over();
                self.pid_file = None;
                self.successor = None;
                self.end(Ending::Graceful);
            }
        }
    }
}

const INTERRUPT: &str = "SIGINT";
const QUIT: &str = "SIGQUIT";

/// What the workers may take to print their stacks, in milliseconds.
const STACKS: u64 = 500;

/// Whether a terminal controls this process.
fn has_terminal() -> bool {
    rustix::fs::open("/dev/tty", OFlags::RDONLY | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())
        .is_ok()
}
