//! The side that serves: formats a line and puts it into a bounded buffer, from which a thread of its own writes.

use std::cell::RefCell;
use std::io;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use super::sink::{LogTarget, Sink};
use super::{Entry, Format, Process, writer};
use crate::address::Local;

/// How many bytes of lines wait at the most; more are dropped, and counted.
const MOST_WAITING: usize = 1 << 20;

/// With so many bytes the writer is woken before its pause is over.
const MANY: usize = 64 << 10;

/// How long the end of the server waits for lines to be written.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A line's memory is kept for the next one up to this size.
const LONGEST_KEPT: usize = 16 << 10;

/// An access log that is open. [`close`](AccessLog::close), or dropping it, writes what waits.
#[derive(Debug)]
pub struct AccessLog {
    format: Format,
    process: Process,
    queue: Arc<Queue>,
}

/// What the threads that serve share with the one that writes.
#[derive(Debug, Default)]
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    lost: AtomicU64,
}

#[derive(Debug, Default)]
struct State {
    lines: Vec<u8>,
    dropped: u64,
    writer: Writer,
    reopen: bool,
    /// The time by which the writer has to be done.
    close_by: Option<Instant>,
}

/// What the thread that writes is doing.
#[derive(Debug, Default, PartialEq, Eq)]
enum Writer {
    #[default]
    Busy,
    /// It lets lines gather.
    Pauses,
    /// There is nothing to write.
    Waits,
    Ended,
}

/// What the writer has to do.
pub(super) struct Orders {
    /// Lines that were dropped since the last orders.
    pub(super) dropped: u64,
    /// To open the target again, once the lines are written.
    pub(super) reopen: bool,
    /// To end, once the lines are written.
    pub(super) close: bool,
}

impl AccessLog {
    /// Opens `target` for lines in `format`. It belongs to the process that calls this: the writing thread is not there in one
    /// that is forked later.
    ///
    /// # Errors
    /// The target cannot be opened, or the thread not be started.
    pub fn open(target: LogTarget, format: Format) -> io::Result<Self> {
        let sink = Sink::open(target)?;
        let queue = Arc::new(Queue::default());
        writer::start(queue.clone(), sink)?;
        let process = Process { pid: std::process::id(), locals: OnceLock::new() };
        Ok(AccessLog { format, process, queue })
    }

    /// Opens the target anew, as after its file was renamed: from any thread, at once. If that fails, the old one is kept, which
    /// the message log tells.
    pub fn reopen(&self) {
        self.queue.state().reopen = true;
        self.queue.changed.notify_all();
    }

    /// How many lines have been lost so far.
    pub fn lost(&self) -> u64 {
        self.queue.lost.load(Ordering::Relaxed)
    }

    /// Writes what waits, then ends; lines that come later are lost. Waits for a second at the most.
    pub fn close(&self) {
        let mut state = self.queue.state();
        let deadline = *state.close_by.get_or_insert_with(|| Instant::now() + LAST_WORDS);
        self.queue.changed.notify_all();
        // A little longer than the writer, which then has something to tell.
        let limit = deadline.saturating_duration_since(Instant::now()) + LAST_WORDS / 4;
        let runs = |state: &mut State| state.writer != Writer::Ended;
        let waited = self.queue.changed.wait_timeout_while(state, limit, runs);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Tells it of the listeners that lines may name.
    pub(crate) fn name_listeners(&self, locals: &[Local]) {
        let _ = self.process.locals.set(locals.to_vec());
    }

    /// Whether lines say how long requests took.
    pub(crate) fn is_timed(&self) -> bool {
        self.format.is_timed()
    }

    /// Takes the line of `entry`. Never waits for the target.
    pub(crate) fn log(&self, entry: &Entry<'_>) {
        LINE.with_borrow_mut(|line| {
            line.clear();
            self.format.append(line, entry, &self.process);
            line.push(b'\n');
            self.queue.push(line);
            line.shrink_to(LONGEST_KEPT);
        });
    }
}

impl Drop for AccessLog {
    fn drop(&mut self) {
        self.close();
    }
}

impl Queue {
    fn push(&self, line: &[u8]) {
        let mut state = self.state();
        let waiting = state.lines.len() + line.len();
        if waiting > MOST_WAITING || state.close_by.is_some() {
            state.dropped += 1;
            self.count_lost(1);
            return;
        }
        state.lines.extend_from_slice(line);
        let wakes = match state.writer {
            Writer::Waits => true,
            Writer::Pauses => waiting >= MANY,
            Writer::Busy | Writer::Ended => false,
        };
        if wakes {
            state.writer = Writer::Busy;
            drop(state);
            self.changed.notify_all();
        }
    }

    /// Waits until there is something to do, and swaps the lines that wait into `lines`, which is empty.
    pub(super) fn next(&self, lines: &mut Vec<u8>) -> Orders {
        let mut state = self.state();
        while state.lines.is_empty() && !state.reopen && state.close_by.is_none() {
            state.writer = Writer::Waits;
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.writer = Writer::Busy;
        mem::swap(&mut state.lines, lines);
        Orders {
            dropped: mem::take(&mut state.dropped),
            reopen: mem::take(&mut state.reopen),
            close: state.close_by.is_some(),
        }
    }

    /// Lets lines gather for `time`, unless they become many or something else is to be done.
    pub(super) fn pause(&self, time: Duration) {
        let mut state = self.state();
        if state.lines.len() >= MANY {
            return;
        }
        state.writer = Writer::Pauses;
        let gather = |state: &mut State| {
            state.writer == Writer::Pauses && !state.reopen && state.close_by.is_none()
        };
        let waited = self.changed.wait_timeout_while(state, time, gather);
        waited.unwrap_or_else(PoisonError::into_inner).0.writer = Writer::Busy;
    }

    /// Whether the target may still be waited for.
    pub(super) fn has_time(&self) -> bool {
        self.state().close_by.is_none_or(|by| Instant::now() < by)
    }

    /// Lines that were dropped while the writer waited for the target.
    pub(super) fn take_dropped(&self) -> u64 {
        mem::take(&mut self.state().dropped)
    }

    /// The writer has ended.
    pub(super) fn ended(&self) {
        self.state().writer = Writer::Ended;
        self.changed.notify_all();
    }

    pub(super) fn count_lost(&self, lines: u64) {
        self.lost.fetch_add(lines, Ordering::Relaxed);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

thread_local! {
    /// The line being made: outside the lock, without an allocation.
    static LINE: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}
