//! The blocks of all processes, and adding them up so that no counter ever goes back.

use std::hint;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::thread;

use super::block::{
    self, CHANGES, CLAIMED, COUNTERS, PROCESS, RESTARTS, Restart, STATE, SUMMED, WorkerState,
};
use super::meter::Metrics;
use crate::sys::SharedMemory;

/// Blocks before the workers': what the supervisor counts, and what the dead have counted.
const SUPERVISOR: usize = 0;
const DEAD: usize = 1;
const FIRST_WORKER: usize = 2;

/// How often a sum is tried again while a block is retired. A supervisor that was killed inside never ends it.
const TRIES: u32 = 10_000;

/// Names the block of a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockIndex(usize);

impl BlockIndex {
    /// Counted from 0: what the worker is called in the metrics.
    pub fn number(self) -> usize {
        self.0 - FIRST_WORKER
    }
}

/// The metrics of a server: made once, before its first worker is forked.
///
/// One process, the one that made it, claims and retires blocks; each worker counts in its own; any process may ask for the text.
#[derive(Debug)]
pub struct Board {
    memory: SharedMemory,
    blocks: usize,
}

/// All blocks added up, at one moment.
#[derive(Debug)]
pub(super) struct Sum {
    pub(super) cells: [u64; SUMMED],
    pub(super) workers: Vec<Worker>,
    /// The supervisor's process; 0 where there is none.
    pub(super) supervisor: u32,
}

/// A worker that has a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Worker {
    pub(super) index: BlockIndex,
    /// One of [`WorkerState`], as a number.
    pub(super) state: u64,
    /// 0 while it is not known.
    pub(super) process: u32,
}

impl Board {
    /// Room for `blocks` workers at a time. Pages of it take memory once they are used.
    ///
    /// # Errors
    /// The system's: no memory to be had.
    pub fn new(blocks: usize) -> io::Result<Arc<Self>> {
        let memory = SharedMemory::new((FIRST_WORKER + blocks) * block::LENGTH)?;
        Ok(Arc::new(Board { memory, blocks }))
    }

    /// Takes a free block for a worker that is about to start. `process` is 0 while that is not known, as before a fork: the worker
    /// notes it itself. None if all are taken: the worker then counts nowhere.
    pub fn claim(&self, process: u32) -> Option<BlockIndex> {
        let free =
            |index: &BlockIndex| self.cell(index.0, STATE.first).load(Ordering::Relaxed) == 0;
        let index = (FIRST_WORKER..FIRST_WORKER + self.blocks).map(BlockIndex).find(free)?;
        self.cell(index.0, PROCESS.first).store(u64::from(process), Ordering::Relaxed);
        self.set_state(index, WorkerState::Starting);
        let claimed = index.number() as u64 + 1;
        self.cell(SUPERVISOR, CLAIMED.first).fetch_max(claimed, Ordering::Relaxed);
        Some(index)
    }

    /// Adds what a worker has counted to what the dead have, once its process has ended, and frees its block.
    pub fn retire(&self, index: BlockIndex) {
        let changes = self.cell(SUPERVISOR, CHANGES.first);
        let even = changes.load(Ordering::Relaxed);
        changes.store(even.wrapping_add(1), Ordering::Relaxed);
        fence(Ordering::Release);
        for cell in 0..COUNTERS {
            let counted = self.cell(index.0, cell).swap(0, Ordering::Relaxed);
            self.cell(DEAD, cell).fetch_add(counted, Ordering::Relaxed);
        }
        for cell in COUNTERS..block::LENGTH {
            self.cell(index.0, cell).store(0, Ordering::Relaxed);
        }
        changes.store(even.wrapping_add(2), Ordering::Release);
    }

    /// A worker was started in the place of another.
    pub fn count_restart(&self, restart: Restart) {
        self.cell(SUPERVISOR, RESTARTS.at(restart.index())).fetch_add(1, Ordering::Relaxed);
    }

    /// Notes who watches over the workers, so that its memory is told as well.
    pub fn note_supervisor(&self, process: u32) {
        self.cell(SUPERVISOR, PROCESS.first).store(u64::from(process), Ordering::Relaxed);
    }

    /// What the worker of a block is doing.
    pub fn set_state(&self, index: BlockIndex, state: WorkerState) {
        self.cell(index.0, STATE.first).store(state as u64, Ordering::Relaxed);
    }

    /// The counters of a block, for the process that calls, which is its worker.
    pub fn block(self: &Arc<Self>, index: BlockIndex) -> Arc<Metrics> {
        let process = self.cell(index.0, PROCESS.first);
        process.store(u64::from(std::process::id()), Ordering::Relaxed);
        Arc::new(Metrics::new(self.clone(), index))
    }

    /// The numbers of a block.
    #[inline]
    pub(super) fn cells_of(&self, index: BlockIndex) -> &[AtomicU64] {
        self.slice(index.0)
    }

    /// All blocks, added up between two retirements.
    pub(super) fn sum(&self) -> Sum {
        let changes = self.cell(SUPERVISOR, CHANGES.first);
        for tried in 0..TRIES {
            let before = changes.load(Ordering::Acquire);
            if before.is_multiple_of(2) {
                let sum = self.add_up();
                fence(Ordering::Acquire);
                if changes.load(Ordering::Relaxed) == before {
                    return sum;
                }
            }
            if tried % 16 == 15 { thread::yield_now() } else { hint::spin_loop() }
        }
        self.add_up()
    }

    fn add_up(&self) -> Sum {
        let process = |index| self.cell(index, PROCESS.first).load(Ordering::Relaxed) as u32;
        let mut cells = [0; SUMMED];
        for index in [SUPERVISOR, DEAD] {
            self.add(index, &mut cells);
        }
        let mut workers = Vec::new();
        for index in self.claimed() {
            let state = self.cell(index.0, STATE.first).load(Ordering::Relaxed);
            if state != 0 {
                self.add(index.0, &mut cells);
                workers.push(Worker { index, state, process: process(index.0) });
            }
        }
        Sum { cells, workers, supervisor: process(SUPERVISOR) }
    }

    fn add(&self, index: usize, sums: &mut [u64; SUMMED]) {
        for (sum, cell) in sums.iter_mut().zip(self.slice(index)) {
            *sum = sum.wrapping_add(cell.load(Ordering::Relaxed));
        }
    }

    /// The blocks that were claimed at some time.
    fn claimed(&self) -> impl Iterator<Item = BlockIndex> {
        let claimed = self.cell(SUPERVISOR, CLAIMED.first).load(Ordering::Relaxed) as usize;
        (FIRST_WORKER..FIRST_WORKER + claimed.min(self.blocks)).map(BlockIndex)
    }

    fn slice(&self, index: usize) -> &[AtomicU64] {
        &self.memory.cells()[index * block::LENGTH..][..block::LENGTH]
    }

    fn cell(&self, index: usize, cell: usize) -> &AtomicU64 {
        &self.slice(index)[cell]
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::super::block::PROMOTIONS;
    use super::*;

    fn promotions(board: &Board) -> u64 {
        board.sum().cells[PROMOTIONS.first]
    }

    #[test]
    fn what_a_worker_has_counted_outlives_it_and_what_it_had_does_not() {
        let board = Board::new(2).expect("memory");
        let index = board.claim(0).expect("a block");
        let metrics = board.block(index);
        metrics.promoted();
        metrics.set_threads(3, 5);
        assert_eq!(board.sum().workers[0].process, std::process::id());
        board.retire(index);
        let sum = board.sum();
        assert_eq!(sum.cells[PROMOTIONS.first], 1);
        assert_eq!(sum.cells[block::THREADS.first], 0);
        assert!(sum.workers.is_empty());
        assert_eq!(board.claim(7), Some(index), "the block is free again");
        assert_eq!(promotions(&board), 1, "and empty");
    }

    #[test]
    fn there_are_as_many_blocks_as_were_asked_for() {
        let board = Board::new(2).expect("memory");
        let claimed = [board.claim(1), board.claim(2), board.claim(3)];
        assert_eq!(claimed.map(|index| index.map(BlockIndex::number)), [Some(0), Some(1), None]);
    }

    #[test]
    fn no_counter_goes_back_while_workers_come_and_go() {
        let board = Board::new(4).expect("memory");
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut latest = 0;
                while !done.load(Ordering::Relaxed) {
                    let now = promotions(&board);
                    assert!(now >= latest, "{now} after {latest}");
                    latest = now;
                }
            });
            for _ in 0..20_000 {
                let index = board.claim(1).expect("a block");
                let metrics = board.block(index);
                (0..3).for_each(|_| metrics.promoted());
                board.retire(index);
            }
            done.store(true, Ordering::Relaxed);
            reader.join().expect("no counter went back");
        });
        assert_eq!(promotions(&board), 60_000);
    }

    #[test]
    fn a_supervisor_that_died_while_it_retired_a_block_holds_nobody_up() {
        let board = Board::new(1).expect("memory");
        board.cell(SUPERVISOR, CHANGES.first).store(1, Ordering::Relaxed);
        assert_eq!(promotions(&board), 0);
    }
}
