//! The workers as processes: forked, told, killed, and looked after when they have ended.

use std::collections::BTreeMap;

use pronghorn_engine::{BlockIndex, Order, resident_bytes};
use pyo3::prelude::*;
use rustix::io::retry_on_intr;
use rustix::process::{Pid, Signal, WaitOptions, WaitStatus, kill_process, wait};

use super::channel::{Channel, Message};
use super::fleet::Id;

/// The processes of the workers.
#[derive(Debug, Default)]
pub(super) struct Processes {
    alive: BTreeMap<Id, Process>,
}

/// One worker's process.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) pid: Pid,
    pub(super) channel: Channel,
    /// Where it counts.
    pub(super) block: Option<BlockIndex>,
    /// More resident memory than this is too much.
    pub(super) most_memory: Option<u64>,
    /// It has told why it cannot start.
    pub(super) has_failed: bool,
}

/// A process that has ended.
pub(super) struct Ended {
    /// Which worker it was; none if it was no worker.
    pub(super) worker: Option<(Id, Process)>,
    pub(super) pid: Pid,
    pub(super) status: WaitStatus,
}

impl Processes {
    pub(super) fn add(&mut self, id: Id, process: Process) {
        self.alive.insert(id, process);
    }

    pub(super) fn get_mut(&mut self, id: Id) -> Option<&mut Process> {
        self.alive.get_mut(&id)
    }

    pub(super) fn pid(&self, id: Id) -> Option<Pid> {
        self.alive.get(&id).map(|process| process.pid)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (Id, &Process)> {
        self.alive.iter().map(|(id, process)| (*id, process))
    }

    pub(super) fn tell(&self, id: Id, order: Order) {
        if let Some(process) = self.alive.get(&id) {
            process.channel.tell(order);
        }
    }

    pub(super) fn tell_all(&self, order: Order) {
        self.alive.values().for_each(|process| process.channel.tell(order));
    }

    /// Where a worker counts.
    pub(super) fn block(&self, id: Id) -> Option<BlockIndex> {
        self.alive.get(&id)?.block
    }

    /// Sends a signal. The process has not been looked after yet, so the number is its own.
    pub(super) fn signal(&self, id: Id, signal: Signal) {
        if let Some(process) = self.alive.get(&id) {
            // It may have ended meanwhile.
            let _ = kill_process(process.pid, signal);
        }
    }

    pub(super) fn signal_all(&self, signal: Signal) {
        self.alive.keys().for_each(|id| self.signal(*id, signal));
    }

    /// What the workers have said.
    pub(super) fn hear(&self) -> Vec<(Id, Message)> {
        let said = |(id, process): (&Id, &Process)| {
            std::iter::from_fn(|| process.channel.hear())
                .map(|message| (*id, message))
                .collect::<Vec<_>>()
        };
        self.alive.iter().flat_map(said).collect()
    }

    /// The next process that has ended: a worker, or one whose parent ended before it and which came to us, as to process 1.
    pub(super) fn next_ended(&mut self) -> Option<Ended> {
        // ECHILD: there is none at all.
        let (pid, status) = retry_on_intr(|| wait(WaitOptions::NOHANG)).ok()??;
        let id = self.alive.iter().find(|(_, process)| process.pid == pid).map(|(id, _)| *id);
        let worker = id.and_then(|id| Some((id, self.alive.remove(&id)?)));
        Some(Ended { worker, pid, status })
    }

    /// The workers that take more memory than they may.
    pub(super) fn too_large(&self) -> Vec<Id> {
        let is_too_large = |process: &Process| {
            let size = || resident_bytes(process.pid.as_raw_nonzero().get() as u32);
            process.most_memory.is_some_and(|most| size().is_some_and(|size| size > most))
        };
        self.alive.iter().filter(|(_, process)| is_too_large(process)).map(|(id, _)| *id).collect()
    }
}

/// Forks with all that Python wants done around it; `None` in the child.
///
/// # Errors
/// `OSError`, when the system has no room for another process.
pub(super) fn fork(py: Python<'_>) -> PyResult<Option<Pid>> {
    let pid: i32 = py.import("os")?.call_method0("fork")?.extract()?;
    Ok(Pid::from_raw(pid))
}

/// How a process ended, for a sentence that begins with it.
pub(super) fn told(status: WaitStatus) -> String {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (_, Some(9)) => {
            "was killed by SIGKILL (the system sends it when memory runs out)".to_owned()
        }
        (_, Some(signal)) => format!("was ended by signal {signal}{}", name(signal)),
        _ => "ended".to_owned(),
    }
}

fn name(signal: i32) -> String {
    let known = [
        (Signal::SEGV, "SIGSEGV"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::ILL, "SIGILL"),
        (Signal::TERM, "SIGTERM"),
        (Signal::INT, "SIGINT"),
    ];
    let found = known.iter().find(|(number, _)| number.as_raw() == signal);
    found.map(|(_, name)| format!(" ({name})")).unwrap_or_default()
}
