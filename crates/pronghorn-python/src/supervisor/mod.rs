//! The supervisor: owns the listening sockets, starts workers and replaces them without losing a request. It imports
//! nothing of the application, except with `preload`, and has one thread.

mod channel;
mod counting;
mod events;
mod fleet;
mod listeners;
mod orders;
mod process;
mod starting;
mod succession;
mod worker;

use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pronghorn_engine::{Board, Order, QUICK, SignalQueue, WorkerState, forget_clean_pages, millis};
use pyo3::prelude::*;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;

pub(crate) use self::worker::{Assignment, work};

use self::fleet::{Action, Ending, Fleet, Id, Patience};
use self::listeners::Listeners;
use self::process::Processes;
use self::starting::WorkerStart;
use self::succession::{Inheritance, Successor};
use crate::app::{Application, StartError};
use crate::configuration::{Configuration, Source};
use crate::listening::tell_of_unused;
use crate::monitoring;
use crate::pid_file::PidFile;
use crate::serve::announce;
use crate::settings::Settings;
use crate::statsd;
use crate::systemd::{self, Notifier};

/// What this process turned out to be.
pub(crate) enum Outcome {
    /// The supervisor, which is done: its exit code.
    Over(i32),
    /// A worker, just forked.
    Worker(Box<Assignment>),
}

/// Supervises workers until all is to end.
///
/// # Errors
/// What keeps it from starting.
pub(crate) fn run(
    py: Python<'_>,
    source: Source,
    configuration: Configuration,
) -> Result<Outcome, StartError> {
    let inheritance = Inheritance::take(py);
    // Before the application: what threads it starts must not take the signals, which would end the process there.
    let signals = SignalQueue::new(orders::SIGNALS).map_err(|error| cannot_supervise(&error))?;
    let application = configuration.preloaded(py)?;
    let mut supervisor = Supervisor::new(py, source, configuration, inheritance, signals)?;
    supervisor.application = application;
    supervisor.supervise(py)
}

struct Supervisor {
    source: Source,
    configuration: Configuration,
    application: Option<Application>,
    /// The sockets that systemd opened.
    systemd: Vec<RawFd>,
    listeners: Listeners,
    fleet: Fleet,
    processes: Processes,
    signals: SignalQueue,
    /// What the workers count, if it is asked for.
    board: Option<Arc<Board>>,
    notifier: Notifier,
    pid_file: Option<PidFile>,
    /// The supervisor before, while it waits for this one to be ready.
    predecessor: Option<Inheritance>,
    /// The supervisor that is to take over.
    successor: Option<Successor>,
    clock: Instant,
    /// How many workers there should be.
    wanted: usize,
    /// When the end begins that was announced.
    ends_at: Option<u64>,
    announced: bool,
    /// All that was asked for is done.
    settled: bool,
    /// Something in flight was cut at the end: what befell a worker that was replaced before is told then, and over.
    was_cut: bool,
    /// The exit code of an end that was not waited for.
    forced: Option<i32>,
    /// Why the first worker could not start.
    failure: Option<String>,
    /// When the workers' memory was looked at.
    memory_seen_at: u64,
}

impl Supervisor {
    fn new(
        py: Python<'_>,
        source: Source,
        configuration: Configuration,
        inheritance: Option<Inheritance>,
        signals: SignalQueue,
    ) -> Result<Self, StartError> {
        let (systemd, mut listeners, predecessor) = open_already(py, inheritance);
        let addresses = configuration.addresses(&systemd);
        tell_of_unused(&systemd, &addresses);
        drop(listeners.change(&addresses, &configuration.manner)?);
        // The one before holds the file until this one is ready.
        let pid_file = match (&predecessor, &configuration.settings.pid) {
            (None, Some(path)) => Some(PidFile::create(path)?),
            _ => None,
        };
        let wanted = configuration.settings.workers as usize;
        let board = board(&configuration.settings)?;
        Ok(Supervisor {
            fleet: Fleet::new(wanted, patience(&configuration.settings)),
            source,
            configuration,
            application: None,
            systemd,
            listeners,
            processes: Processes::default(),
            signals,
            board,
            notifier: Notifier::from_environment(py),
            pid_file,
            predecessor,
            successor: None,
            clock: Instant::now(),
            wanted,
            ends_at: None,
            announced: false,
            settled: false,
            was_cut: false,
            forced: None,
            failure: None,
            memory_seen_at: 0,
        })
    }

    fn supervise(mut self, py: Python<'_>) -> Result<Outcome, StartError> {
        loop {
            for action in self.fleet.advance(self.now()) {
                if let Some(assignment) = self.carry_out(py, action) {
                    return Ok(Outcome::Worker(Box::new(self.into_worker(py, assignment))));
                }
            }
            self.note_progress();
            if self.fleet.is_over() {
                return self.over();
            }
            self.wait(py);
            self.see_to_orders(py);
            self.see_to_workers();
            self.see_to_successor();
            self.see_to_time();
        }
    }

    /// Milliseconds since the start.
    fn now(&self) -> u64 {
        millis(self.clock.elapsed())
    }

    /// Does what the fleet asks for; in a process that was just forked, gives what it is to work with.
    fn carry_out(&mut self, py: Python<'_>, action: Action) -> Option<WorkerStart> {
        match action {
            Action::Start(id, cause) => return self.start(py, id, cause),
            Action::Drain(id) => {
                self.note_state(id, WorkerState::Draining);
                self.processes.tell(id, Order::Drain);
            }
            Action::Stop(id) => self.processes.tell(id, Order::Stop),
            Action::Abandon(id) => self.processes.signal(id, Signal::TERM),
            Action::Kill(id) => self.kill(id),
        }
        None
    }

    fn kill(&mut self, id: Id) {
        let is_starting = self.fleet.is_starting(id);
        if is_starting && self.fleet.start_is_vital() {
            self.failure.get_or_insert_with(|| TOO_SLOW.to_owned());
        } else if let Some(pid) = self.processes.pid(id) {
            let starting = "was not ready within start-timeout";
            let what = if is_starting { starting } else { "does not end in time" };
            log::error!("worker {pid} {what} and is killed");
        }
        self.processes.signal(id, Signal::KILL);
    }

    /// Tells whom it concerns what has been reached.
    fn note_progress(&mut self) {
        let settled = self.fleet.is_settled() && self.fleet.ending().is_none();
        if !settled || std::mem::replace(&mut self.settled, settled) {
            self.settled = settled;
            return;
        }
        if !std::mem::replace(&mut self.announced, true) {
            announce(&self.listeners.names());
            self.take_over();
        }
        let count = self.fleet.serving_ids().count();
        self.notifier
            .ready(&format!("{count} workers serve at {}", self.listeners.names().join(", ")));
        statsd::tell_workers(&self.configuration.settings, count);
        forget_clean_pages();
    }

    /// The supervisor before can go.
    fn take_over(&mut self) {
        let Some(predecessor) = self.predecessor.take() else { return };
        self.listeners.own();
        if let Some(path) = &self.configuration.settings.pid {
            match PidFile::take_over(path) {
                Ok(file) => self.pid_file = Some(file),
                Err(error) => log::error!("{error}"),
            }
        }
        predecessor.take_over();
    }

    fn over(self) -> Result<Outcome, StartError> {
        let code = match self.fleet.ending() {
            Some(Ending::Failed) => {
                return Err(StartError::new(
                    self.failure.unwrap_or_else(|| NONE_STARTED.to_owned()),
                ));
            }
            Some(Ending::Graceful) if self.was_cut => 1,
            _ => self.forced.unwrap_or_default(),
        };
        Ok(Outcome::Over(code))
    }

    /// Waits for something to happen.
    fn wait(&self, py: Python<'_>) {
        let mut watched = vec![PollFd::new(&self.signals, PollFlags::IN)];
        let channels = self.processes.iter().map(|(_, process)| &process.channel);
        let open = channels.filter(|channel| !channel.is_closed());
        watched.extend(open.map(|channel| PollFd::new(channel, PollFlags::IN)));
        watched
            .extend(self.successor.iter().map(|successor| PollFd::new(successor, PollFlags::IN)));
        let limit = self.longest_wait().map(|limit| Timespec {
            tv_sec: limit.as_secs() as i64,
            tv_nsec: i64::from(limit.subsec_nanos()),
        });
        // Threads of an application that was imported before the fork may run meanwhile. An interruption is as good as an event.
        let _ = py.detach(|| poll(&mut watched, limit.as_ref()));
    }

    fn longest_wait(&self) -> Option<Duration> {
        let looks_at_memory = self.configuration.settings.max_memory > 0;
        let memory = looks_at_memory.then_some(self.memory_seen_at + MEMORY_LOOKS);
        let due = [self.fleet.next_time(), self.ends_at, memory].into_iter().flatten().min();
        let limit = due.map(|due| Duration::from_millis(due.saturating_sub(self.now())));
        [limit, self.notifier.watchdog_interval()].into_iter().flatten().min()
    }
}

/// The sockets that this process was started with, and those of systemd among them.
fn open_already(
    py: Python<'_>,
    inheritance: Option<Inheritance>,
) -> (Vec<RawFd>, Listeners, Option<Inheritance>) {
    let Some(mut before) = inheritance else {
        return (systemd::inherited(py), Listeners::default(), None);
    };
    let listeners = std::mem::take(&mut before.listeners);
    let numbers = succession::systemd_numbers(&listeners);
    (numbers, Listeners::inherited(listeners), Some(before))
}

/// The memory of the metrics, if they are asked for.
fn board(settings: &Settings) -> Result<Option<Arc<Board>>, StartError> {
    if settings.metrics.is_none() {
        return Ok(None);
    }
    let board = Board::new(MOST_BLOCKS).map_err(|error| monitoring::no_memory(&error))?;
    board.note_supervisor(std::process::id());
    Ok(Some(board))
}

/// How long workers may take.
fn patience(settings: &Settings) -> Patience {
    Patience {
        start: millis(settings.start_timeout),
        graceful: millis(settings.graceful_timeout),
        quick: millis(QUICK),
        waits_for_repair: settings.reload,
    }
}

fn cannot_supervise(error: &io::Error) -> StartError {
    StartError::new(format!(
        "the supervisor cannot start. {error}. Check the limit of open files (ulimit -n)."
    ))
}

const NONE_STARTED: &str = "no worker could be started. The messages above say why.";

const TOO_SLOW: &str = "a worker was not ready within start-timeout. Importing the application, or its lifespan start-up, \
                        takes longer. See what it waits for, or give it more time with --start-timeout.";

/// As many workers as there may be, and those that take their places.
const MOST_BLOCKS: usize = 2 * 1024;

/// How often the memory of the workers is looked at, in milliseconds.
const MEMORY_LOOKS: u64 = 1_000;
