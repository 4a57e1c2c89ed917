//! Writing the lines: a thread of its own, and a bounded buffer before it.

use std::fs::File;
use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use super::{Entry, line};

/// How many bytes of lines wait at the most; more are dropped, and counted.
const MOST_WAITING: usize = 1 << 20;

/// Lines are written in batches this far apart.
const PAUSE: Duration = Duration::from_millis(50);

/// An access log that is open. [`close`](AccessLog::close), or dropping it, writes what waits.
#[derive(Debug)]
pub struct AccessLog {
    queue: Arc<Queue>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    filled: Condvar,
}

#[derive(Debug, Default)]
struct State {
    lines: Vec<u8>,
    dropped: u64,
    writer_waits: bool,
    closed: bool,
}

impl AccessLog {
    /// Writes to `file`, which may block without holding up requests.
    ///
    /// # Errors
    /// The thread could not be started.
    pub fn new(file: File) -> io::Result<Self> {
        let queue = Arc::new(Queue::default());
        let theirs = queue.clone();
        let builder = std::thread::Builder::new().name("pronghorn-log".to_owned());
        let thread = builder.stack_size(128 << 10).spawn(move || theirs.write_all_to(file))?;
        Ok(AccessLog { queue, thread: Mutex::new(Some(thread)) })
    }

    /// Writes what waits, then ends; lines that come later are lost. Waits as long as the file blocks.
    pub fn close(&self) {
        self.queue.state().closed = true;
        self.queue.filled.notify_one();
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(thread) = thread {
            // A panic of the writer has been reported by itself.
            let _ = thread.join();
        }
    }

    pub(crate) fn log(&self, entry: &Entry<'_>) {
        let mut state = self.queue.state();
        if state.lines.len() >= MOST_WAITING {
            state.dropped += 1;
            return;
        }
        line::append(&mut state.lines, entry);
        if mem::take(&mut state.writer_waits) {
            drop(state);
            self.queue.filled.notify_one();
        }
    }
}

impl Drop for AccessLog {
    fn drop(&mut self) {
        self.close();
    }
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_all_to(&self, mut file: File) {
        let mut batch = Vec::new();
        loop {
            let (dropped, closed) = self.next_batch(&mut batch);
            if dropped > 0 {
                log::warn!(
                    "{dropped} lines of the access log were dropped: it is written too slowly"
                );
            }
            if let Err(error) = file.write_all(&batch) {
                log::warn!("the access log cannot be written, lines are lost: {}", error.kind());
            }
            batch.clear();
            if closed {
                return;
            }
            self.pause();
        }
    }

    /// Lets lines gather, unless the log is closed meanwhile.
    fn pause(&self) {
        let open = |state: &mut State| !state.closed;
        let waited = self.filled.wait_timeout_while(self.state(), PAUSE, open);
        drop(waited.unwrap_or_else(PoisonError::into_inner));
    }

    /// Waits for lines and swaps them into `batch`; gives how many were dropped, and whether the log is closed.
    fn next_batch(&self, batch: &mut Vec<u8>) -> (u64, bool) {
        let mut state = self.state();
        while state.lines.is_empty() && !state.closed {
            state.writer_waits = true;
            state = self.filled.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        mem::swap(&mut state.lines, batch);
        (mem::take(&mut state.dropped), state.closed)
    }
}
