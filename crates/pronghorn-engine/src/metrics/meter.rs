//! What one worker counts, and how.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use pronghorn_proto::head::Method;

use super::block::{self, Place, Shed, Timeout, WorkerState};
use super::board::{BlockIndex, Board};
use super::histogram;
use super::render::render;
use crate::sys;

/// The metrics of this process.
///
/// Numbers that are changed under the lock of the event loop have one writer at a time, and need no atomic addition. So it is
/// with those that every request changes.
#[derive(Debug)]
pub struct Metrics {
    board: Arc<Board>,
    index: BlockIndex,
    /// When the leader, whoever it was, last came back from a poll: microseconds of the monotonic clock, 0 is never.
    polled_at: AtomicU64,
}

/// How a request was answered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answered {
    pub(crate) method: Method,
    pub(crate) status: u16,
    /// Bytes of the whole response that went out by now.
    pub(crate) sent: u64,
    /// Microseconds in the run queue, and from its entry into that to the end of its handler; none if it was not run.
    pub(crate) times: Option<(u64, u64)>,
}

/// What a connection is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stand {
    Idle,
    Reading,
    Running,
    Writing,
    Lingering,
}

impl Metrics {
    pub(super) fn new(board: Arc<Board>, index: BlockIndex) -> Self {
        Metrics { board, index, polled_at: AtomicU64::new(0) }
    }

    /// What Prometheus is given: the metrics of the whole server.
    pub(crate) fn text(&self) -> String {
        render(&self.board.sum())
    }

    /// What this process is doing.
    pub(crate) fn set_state(&self, state: WorkerState) {
        self.board.set_state(self.index, state);
    }

    /// A leader was replaced by a follower.
    pub(crate) fn promoted(&self) {
        self.add(block::PROMOTIONS.first, 1);
    }

    /// A deadline passed.
    pub(crate) fn timed_out(&self, what: Timeout) {
        self.add(block::TIMEOUTS.at(what as usize), 1);
    }

    /// A request is not run.
    pub(crate) fn shed(&self, why: Shed) {
        self.add(block::SHED.at(why as usize), 1);
    }

    /// Bytes came from a client.
    pub(crate) fn received(&self, bytes: usize) {
        self.add(block::RECEIVED.first, bytes as u64);
    }

    /// A thread has waited for the interpreter since `began`, in microseconds of the monotonic clock.
    pub(crate) fn interpreter_waited(&self, began: u64) {
        let waited = sys::monotonic_micros().saturating_sub(began);
        self.add(block::INTERPRETER.at(histogram::bucket(waited)), 1);
        self.add(block::INTERPRETER.at(histogram::SUM), waited);
    }

    /// How many requests run, of how many that may.
    pub(crate) fn set_threads(&self, busy: usize, most: usize) {
        self.set(block::THREADS.at(0), busy as u64);
        self.set(block::THREADS.at(1), most.saturating_sub(busy) as u64);
    }

    /// How many requests are in the run queue.
    pub(crate) fn set_queued(&self, count: usize) {
        self.set(block::QUEUED.first, count as u64);
    }

    /// The leader is about to poll: it was away since the poll before.
    pub(crate) fn polls(&self) {
        let polled_at = self.polled_at.load(Ordering::Relaxed);
        if polled_at > 0 {
            self.observe(block::LAG, sys::monotonic_micros().saturating_sub(polled_at));
        }
    }

    /// The leader comes back from a poll.
    pub(crate) fn has_polled(&self) {
        self.polled_at.store(sys::monotonic_micros(), Ordering::Relaxed);
    }
}

/// Under the lock of the event loop.
impl Metrics {
    /// A request that was queued is answered, as far as its thread could.
    pub(crate) fn answered(&self, answered: &Answered) {
        let Answered { method, status, sent, times } = *answered;
        self.count(block::REQUESTS.at(block::request_index(method, status)), 1);
        self.count(block::SENT.first, sent);
        if let Some((queued, taken)) = times {
            self.observe(block::QUEUE, queued);
            self.observe(block::DURATION, taken);
        }
    }

    /// A request was refused by the server itself.
    pub(crate) fn refused(&self, method: Method, status: u16) {
        self.count(block::REQUESTS.at(block::request_index(method, status)), 1);
    }

    /// Bytes went to a client.
    pub(crate) fn sent(&self, bytes: u64) {
        self.count(block::SENT.first, bytes);
    }

    /// A connection was taken in.
    pub(crate) fn accepted(&self) {
        self.count(block::ACCEPTED.first, 1);
    }

    /// A connection goes from one to another; none is before its opening, and after its end.
    pub(crate) fn moved(&self, from: Option<Stand>, to: Option<Stand>) {
        if let Some(from) = from {
            self.count(block::CONNECTIONS.at(from as usize), u64::MAX);
        }
        if let Some(to) = to {
            self.count(block::CONNECTIONS.at(to as usize), 1);
        }
    }

    /// How many lines of the access log were lost.
    pub(crate) fn set_lines_lost(&self, lines: u64) {
        self.set(block::LOG_DROPPED.first, lines);
    }

    #[inline]
    fn observe(&self, histogram: Place, micros: u64) {
        self.count(histogram.at(histogram::bucket(micros)), 1);
        self.count(histogram.at(histogram::SUM), micros);
    }

    /// Adds where there is one writer at a time; adding the largest number takes one away.
    #[inline]
    fn count(&self, cell: usize, number: u64) {
        let cell = &self.board.cells_of(self.index)[cell];
        cell.store(cell.load(Ordering::Relaxed).wrapping_add(number), Ordering::Relaxed);
    }

    fn add(&self, cell: usize, number: u64) {
        self.board.cells_of(self.index)[cell].fetch_add(number, Ordering::Relaxed);
    }

    #[inline]
    fn set(&self, cell: usize, number: u64) {
        self.board.cells_of(self.index)[cell].store(number, Ordering::Relaxed);
    }
}
