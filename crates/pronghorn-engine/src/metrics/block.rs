//! What a block of numbers holds, and where in it.

use pronghorn_proto::head::Method;

use super::histogram;
use crate::replacement::Reason;

/// A run of numbers in a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) first: usize,
    pub(super) count: usize,
}

impl Place {
    const fn after(before: Place, count: usize) -> Self {
        Place { first: before.first + before.count, count }
    }

    /// The number at `index` of the run.
    #[inline]
    pub(super) const fn at(self, index: usize) -> usize {
        debug_assert!(index < self.count);
        self.first + index
    }
}

/// Names of methods, in the order of [`Method`]; the last is any other, so that clients cannot make up series.
pub(super) const METHODS: [&str; 10] =
    ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE", "CONNECT", "other"];

/// Classes of status codes.
pub(super) const CLASSES: [&str; 5] = ["1xx", "2xx", "3xx", "4xx", "5xx"];

/// The number of the class of a status, and of a method, within [`REQUESTS`].
#[inline]
pub(super) fn request_index(method: Method, status: u16) -> usize {
    let class = usize::from(status / 100).clamp(1, CLASSES.len()) - 1;
    method as usize * CLASSES.len() + class
}

/// A deadline that passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timeout {
    /// A head did not come whole.
    Head,
    /// A body paused for too long, or came too slowly.
    Body,
    /// A client took nothing of a response.
    Write,
    /// No further request came.
    KeepAlive,
    /// A request ran for too long.
    Request,
    /// The client of a WebSocket did not answer a ping.
    Ping,
}

pub(super) const TIMEOUT_NAMES: [&str; 6] =
    ["head", "body", "write", "keep_alive", "request", "ping"];

/// Why a request was not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shed {
    /// It waited in the run queue for too long.
    QueueTimeout,
    /// There were as many requests as there may be.
    MaxConcurrency,
    /// Its client had gone.
    ClientGone,
}

pub(super) const SHED_NAMES: [&str; 3] = ["queue_timeout", "max_concurrency", "client_gone"];

/// Why a worker was started in the place of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// The other one ended by itself.
    Crash,
    /// The settings and the application were loaded again.
    Hup,
    /// The worker asked for it.
    Asked(Reason),
}

pub(super) const RESTART_NAMES: [&str; 7] =
    ["crash", "hup", "requests", "lifetime", "memory", "stuck", "changed"];

impl Restart {
    pub(super) fn index(self) -> usize {
        match self {
            Restart::Crash => 0,
            Restart::Hup => 1,
            Restart::Asked(Reason::Requests) => 2,
            Restart::Asked(Reason::Lifetime) => 3,
            Restart::Asked(Reason::Memory) => 4,
            Restart::Asked(Reason::Stuck) => 5,
            Restart::Asked(Reason::Changed) => 6,
        }
    }
}

/// What the worker of a block is doing; a block without one is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkerState {
    /// It loads the application.
    Starting = 1,
    /// It serves.
    Ready,
    /// It answers what it has, then ends.
    Draining,
}

pub(super) const WORKER_STATE_NAMES: [&str; 3] = ["starting", "ready", "draining"];

/// What connections are doing, in the order of [`Stand`](super::Stand).
pub(super) const CONNECTION_NAMES: [&str; 5] =
    ["idle", "reading", "running", "writing", "lingering"];

pub(super) const THREAD_NAMES: [&str; 2] = ["busy", "idle"];

// Counters: what a worker has counted lives on in the block of the dead.
pub(super) const REQUESTS: Place = Place { first: 0, count: METHODS.len() * CLASSES.len() };
pub(super) const DURATION: Place = Place::after(REQUESTS, histogram::LENGTH);
pub(super) const QUEUE: Place = Place::after(DURATION, histogram::LENGTH);
pub(super) const INTERPRETER: Place = Place::after(QUEUE, histogram::LENGTH);
pub(super) const LAG: Place = Place::after(INTERPRETER, histogram::LENGTH);
pub(super) const SHED: Place = Place::after(LAG, SHED_NAMES.len());
pub(super) const TIMEOUTS: Place = Place::after(SHED, TIMEOUT_NAMES.len());
pub(super) const PROMOTIONS: Place = Place::after(TIMEOUTS, 1);
pub(super) const ACCEPTED: Place = Place::after(PROMOTIONS, 1);
pub(super) const RECEIVED: Place = Place::after(ACCEPTED, 1);
pub(super) const SENT: Place = Place::after(RECEIVED, 1);
pub(super) const LOG_DROPPED: Place = Place::after(SENT, 1);
pub(super) const RESTARTS: Place = Place::after(LOG_DROPPED, RESTART_NAMES.len());
/// So many numbers of a block are counters.
pub(super) const COUNTERS: usize = RESTARTS.first + RESTARTS.count;

// Gauges: they end with their worker.
pub(super) const CONNECTIONS: Place = Place::after(RESTARTS, CONNECTION_NAMES.len());
pub(super) const QUEUED: Place = Place::after(CONNECTIONS, 1);
pub(super) const THREADS: Place = Place::after(QUEUED, THREAD_NAMES.len());
/// So many numbers of a block are added up.
pub(super) const SUMMED: usize = THREADS.first + THREADS.count;

// Whose block it is.
pub(super) const STATE: Place = Place::after(THREADS, 1);
pub(super) const PROCESS: Place = Place::after(STATE, 1);
/// In the supervisor's block only: odd while a block is retired.
pub(super) const CHANGES: Place = Place::after(PROCESS, 1);
/// In the supervisor's block only: how many blocks were ever claimed at one time. Those behind were never touched.
pub(super) const CLAIMED: Place = Place::after(CHANGES, 1);

/// The length of a block: whole pairs of cache lines, so that two workers never write to one.
pub(super) const LENGTH: usize = (CLAIMED.first + CLAIMED.count).next_multiple_of(16);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_and_a_class_have_a_number_of_their_own() {
        assert_eq!(request_index(Method::Get, 200), 1);
        assert_eq!(request_index(Method::Head, 404), 5 + 3);
        assert_eq!(request_index(Method::Other, 599), REQUESTS.count - 1);
        assert_eq!(METHODS[Method::Connect as usize], "CONNECT");
        // What no application may set is counted all the same, and within bounds.
        assert_eq!(request_index(Method::Get, 0), 0);
        assert_eq!(request_index(Method::Get, 999), 4);
    }
}
