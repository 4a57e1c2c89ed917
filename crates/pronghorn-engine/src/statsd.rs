//! StatsD: a server elsewhere is told of requests, in datagrams, by the names that gunicorn gives the metrics.
//!
//! Counters are added up between two datagrams, so their cost does not grow with the number of requests; each duration is a line.

mod socket;
mod writer;

use std::io;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use log::Level;
use socket::Socket;

use crate::datagram::DatagramAddress;

/// How many requests wait to be told at the most; of more only the counters are told.
const MOST_WAITING: usize = 32 << 10;

/// How long the end of the server waits for the last datagrams.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// What is told, and to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatsdSettings {
    /// The server.
    pub address: DatagramAddress,
    /// What the names begin with; a dot is put behind it.
    pub prefix: Option<String>,
    /// Tags of DogStatsD, with commas between.
    pub tags: Option<String>,
}

/// A StatsD server that is told of this process.
#[derive(Debug)]
pub struct Statsd {
    queue: Arc<Queue>,
}

/// What the threads that serve share with the one that sends.
#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    messages: Messages,
}

#[derive(Debug, Default)]
struct State {
    requests: Vec<Answered>,
    /// Requests whose durations found no room.
    untimed: Vec<(u16, u64)>,
    close: bool,
    ended: bool,
}

/// One request.
#[derive(Clone, Copy, Debug)]
struct Answered {
    micros: u64,
    status: u16,
}

/// Messages of the log by level, as far as they are counted.
#[derive(Debug, Default)]
struct Messages {
    errors: AtomicU64,
    warnings: AtomicU64,
    exceptions: AtomicU64,
}

impl Statsd {
    /// Begins to tell the server of `settings`. It belongs to the process that calls this.
    ///
    /// # Errors
    /// The name of the server is unknown, or the thread cannot be started. A server that is not there is no error.
    pub fn start(settings: &StatsdSettings) -> io::Result<Self> {
        let queue = Arc::new(Queue::default());
        writer::start(queue.clone(), Socket::new(&settings.address)?, Names::of(settings))?;
        Ok(Statsd { queue })
    }

    /// Counts a message of the log; `exception`: it tells of an exception of the application.
    pub fn note_message(&self, level: Level, exception: bool) {
        let messages = &self.queue.messages;
        let counter = match level {
            Level::Error if exception => &messages.exceptions,
            Level::Error => &messages.errors,
            Level::Warn => &messages.warnings,
            _ => return,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Tells what waits, within half a second, and ends.
    pub fn close(&self) {
        let mut state = self.queue.state();
        state.close = true;
        self.queue.changed.notify_all();
        let runs = |state: &mut State| !state.ended;
        drop(self.queue.changed.wait_timeout_while(state, LAST_WORDS, runs));
    }

    /// Notes a request that was answered. Never waits for the server.
    pub(crate) fn note_request(&self, status: u16, micros: u64) {
        let mut state = self.queue.state();
        if state.requests.len() < MOST_WAITING {
            state.requests.push(Answered { micros, status });
            return;
        }
        match state.untimed.iter_mut().find(|(other, _)| *other == status) {
            Some((_, count)) => *count += 1,
            None => state.untimed.push((status, 1)),
        }
    }
}

impl Drop for Statsd {
    fn drop(&mut self) {
        self.close();
    }
}

/// Tells a StatsD server, once and without waiting, how many workers there are.
///
/// # Errors
/// The datagram cannot be sent.
pub fn tell_workers(settings: &StatsdSettings, workers: usize) -> io::Result<()> {
    let mut line = Vec::new();
    Names::of(settings).append(&mut line, "gunicorn.workers", &workers.to_string(), "g");
    line.pop();
    Socket::new(&settings.address)?.send(&line)
}

/// What every line begins and ends with.
#[derive(Debug)]
struct Names {
    prefix: String,
    tags: String,
}

impl Names {
    fn of(settings: &StatsdSettings) -> Self {
        let prefix = settings.prefix.as_deref().unwrap_or_default().trim_end_matches('.');
        let tags = settings.tags.as_deref().unwrap_or_default();
        Names {
            prefix: if prefix.is_empty() { String::new() } else { format!("{prefix}.") },
            tags: if tags.is_empty() { String::new() } else { format!("|#{tags}") },
        }
    }

    /// Appends a line with its end.
    fn append(&self, out: &mut Vec<u8>, name: &str, value: &str, kind: &str) {
        let Names { prefix, tags } = self;
        out.extend_from_slice(format!("{prefix}{name}:{value}|{kind}{tags}\n").as_bytes());
    }
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets requests gather for `time`; true if this was the last time.
    fn gather(&self, time: Duration) -> bool {
        let until = Instant::now() + time;
        let open = |state: &mut State| !state.close && Instant::now() < until;
        let waited = self.changed.wait_timeout_while(self.state(), time, open);
        waited.unwrap_or_else(PoisonError::into_inner).0.close
    }

    /// Swaps what waits into `requests`, which is empty.
    fn take(&self, requests: &mut Vec<Answered>) -> Vec<(u16, u64)> {
        let mut state = self.state();
        mem::swap(&mut state.requests, requests);
        mem::take(&mut state.untimed)
    }

    fn ended(&self) {
        self.state().ended = true;
        self.changed.notify_all();
    }
}
