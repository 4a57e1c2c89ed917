//! What the supervisor adds to the metrics.

use pronghorn_engine::{BlockIndex, Restart, WorkerState};

use super::Supervisor;
use super::fleet::{Cause, Id};

impl Supervisor {
    /// A worker was started, and why.
    pub(super) fn count(&self, cause: Cause) {
        let restart = match cause {
            Cause::Start => return,
            Cause::Crash => Restart::Crash,
            Cause::Reload => Restart::Hup,
            Cause::Asked(reason) => Restart::Asked(reason),
        };
        if let Some(board) = &self.board {
            board.count_restart(restart);
        }
    }

    /// What a worker is doing.
    pub(super) fn note_state(&self, id: Id, state: WorkerState) {
        if let (Some(board), Some(block)) = (&self.board, self.processes.block(id)) {
            board.set_state(block, state);
        }
    }

    /// A worker has ended: what it has counted stays.
    pub(super) fn retire(&self, block: Option<BlockIndex>) {
        if let (Some(board), Some(block)) = (&self.board, block) {
            board.retire(block);
        }
    }
}
