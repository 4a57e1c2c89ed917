//! Starting a worker: the fork, and what of the supervisor goes with it.

use std::io;

use pronghorn_engine::{BlockIndex, Listener, Reason};
use pyo3::prelude::*;
use rustix::process::Pid;

use super::Supervisor;
use super::channel::{self, WorkerEnd};
use super::fleet::{self, Cause, Id};
use super::process::{self, Process};
use super::worker::Assignment;
use crate::signals;

impl Supervisor {
    /// Starts a worker; in its process, gives what it is to work with.
    pub(super) fn start(&mut self, py: Python<'_>, id: Id, cause: Cause) -> Option<WorkerStart> {
        let block = self.board.as_ref().and_then(|board| board.claim(0));
        match self.try_start(py, id, block) {
            Ok(Started::Parent(process)) => {
                tell_why(cause, process.pid);
                self.processes.add(id, process);
            }
            Ok(Started::Child(start)) => return Some(start),
            Err(error) => {
                self.retire(block);
                log::error!(
                    "a worker could not be started: {error}. Check the limits of processes and memory"
                );
                self.fleet.ended(id, self.now());
                return None;
            }
        }
        self.count(cause);
        None
    }

    fn try_start(&self, py: Python<'_>, id: Id, block: Option<BlockIndex>) -> io::Result<Started> {
        let (channel, end) = channel::pair()?;
        let listeners = self.listeners.share()?;
        let max_requests = self.configuration.max_requests();
        let forked = process::fork(py).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(match forked {
            None => Started::Child(WorkerStart { id, end, listeners, block, max_requests }),
            Some(pid) => Started::Parent(Process {
                pid,
                channel,
                block,
                most_memory: self.configuration.most_memory(),
                has_failed: false,
            }),
        })
    }

    /// The part of this process that is a worker's: all else goes, and nothing outside changes by it.
    pub(super) fn into_worker(mut self, py: Python<'_>, start: WorkerStart) -> Assignment {
        self.listeners.hand_over();
        signals::ignore_until_served(py);
        self.signals.release();
        let metrics = self.board.zip(start.block).map(|(board, block)| board.block(block));
        Assignment {
            metrics,
            // The others of the first start come when they are ready; after a handover the supervisor before serves.
            is_first: start.id == fleet::FIRST && self.predecessor.is_none(),
            end: start.end,
            listeners: start.listeners,
            configuration: self.configuration,
            application: self.application,
            max_requests: start.max_requests,
            replaces: self.fleet.replaces(start.id),
        }
    }
}

/// What has not been told by whatever made it necessary.
fn tell_why(cause: Cause, pid: Pid) {
    let Cause::Asked(reason) = cause else { return };
    let why = match reason {
        Reason::Requests => "has served max-requests",
        Reason::Lifetime => "has reached max-lifetime",
        Reason::Memory => "takes more than max-memory",
        Reason::Stuck | Reason::Changed => return,
    };
    log::info!("worker {pid} is started to replace one that {why}");
}

/// What a worker is started with.
pub(super) struct WorkerStart {
    id: Id,
    end: WorkerEnd,
    listeners: Vec<Listener>,
    block: Option<BlockIndex>,
    max_requests: Option<u64>,
}

/// Which of the two processes this is.
enum Started {
    Parent(Process),
    Child(WorkerStart),
}
