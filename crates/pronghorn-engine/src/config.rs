//! What a server is told: limits, deadlines, threads.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pronghorn_proto::encode::ServerFields;
use pronghorn_proto::limits::Limits;

use crate::access::{AccessLog, Entry};
use crate::address::{Local, Peer};
use crate::client::Proxies;
use crate::dialogue::WebSockets;
use crate::metrics::Metrics;
use crate::replacement::Replacement;
use crate::request::Request;
use crate::statsd::Statsd;
use crate::sys::millis;
use crate::witness::Witness;

/// Settings of the engine. The defaults are those of docs/behaviour.md.
#[derive(Clone, Debug)]
pub struct Config {
    /// Sizes of what a client may send.
    pub limits: Limits,
    /// The deadlines of a connection.
    pub deadlines: Deadlines,
    /// How many requests may run at once; 1 runs every request on the thread that polls.
    pub threads: usize,
    /// How long the leader may be in one call before a follower takes over.
    pub promote_after: Duration,
    /// A body up to this many bytes stays in memory; a larger one goes to an unnamed file.
    pub body_buffer: u64,
    /// So many bytes of a body are read before an application that takes it in pieces asks for them.
    pub read_ahead: usize,
    /// So many bytes of a response may wait for the client before such an application has to wait.
    pub write_ahead: usize,
    /// How WebSockets are served.
    pub websockets: WebSockets,
    /// Where the unnamed files are.
    pub temporary_directory: PathBuf,
    /// More connections than this wait in the backlog.
    pub max_connections: usize,
    /// More requests than this, running and queued, are answered 503.
    pub max_concurrency: Option<usize>,
    /// Whether requests are timed to the microsecond: see [`Request::timing`](crate::request::Request).
    pub timed: bool,
    /// The `Server` field of responses; none leaves it out.
    pub server: Option<String>,
    /// Whether responses carry `Date`.
    pub date: bool,
    /// What is in front of the server.
    pub proxies: Proxies,
    /// Whether every request gets an identifier.
    pub request_ids: bool,
    /// Where a line goes for each request answered.
    pub access: Option<Arc<AccessLog>>,
    /// The StatsD server that is told of each request answered.
    pub statsd: Option<Arc<Statsd>>,
    /// Where this process counts; none counts nothing.
    pub metrics: Option<Arc<Metrics>>,
    /// The path at which every listener has the metrics. A listener for metrics has them at `/metrics` besides.
    pub metrics_path: Option<String>,
    /// The path at which every listener says whether the server is ready.
    pub health: Option<String>,
    /// How to ask for another process in the place of this one; none if nobody is there to ask.
    pub replacement: Option<Replacement>,
    /// Who is told how the server is.
    pub witness: Option<Arc<dyn Witness>>,
    /// After so many requests it asks for one.
    pub max_requests: Option<u64>,
}

/// The deadlines of a connection. Each is on by default.
#[derive(Clone, Copy, Debug)]
pub struct Deadlines {
    /// From the connection's opening, or the first byte of a later request, to the end of the head.
    pub head: Duration,
    /// The longest pause within a body.
    pub body: Duration,
    /// Bytes a second that a body must come with on the average, once `body` has passed.
    pub body_rate: u64,
    /// How long an idle connection is kept.
    pub keep_alive: Duration,
    /// How long a client may leave the send buffer full.
    pub write: Duration,
    /// How long what a client still sends is read and thrown away before its connection is closed.
    pub linger: Duration,
    /// How long the health check fails before an ordered drain begins.
    pub drain_delay: Duration,
    /// How long a drain waits for requests in flight.
    pub graceful: Duration,
    /// How long an idle connection is kept while the server drains, for a request that may be on its way.
    pub drain_idle: Duration,
    /// How long what a client still sends is read while the server drains.
    pub drain_linger: Duration,
    /// How long a request may run; none is without end.
    pub request: Option<Duration>,
    /// How long a request over its time may take to end.
    pub request_grace: Duration,
    /// A request that runs longer is logged.
    pub slow_request: Option<Duration>,
    /// How long the application of a dialogue may go on when its client has gone; none is without end.
    pub disconnect_grace: Option<Duration>,
    /// How long a request may wait in the run queue; none is without end.
    pub queue: Option<Duration>,
}

impl Config {
    /// Sees to what the logs need of the server, whose listeners are `locals`.
    pub(crate) fn prepare_logs(&mut self, locals: &[Local]) {
        self.timed |= self.statsd.is_some();
        if let Some(access) = &self.access {
            access.name_listeners(locals);
            self.timed |= access.is_timed();
        }
    }

    /// Writes what waits to be written, within about a second.
    pub(crate) fn close_logs(&self) {
        if let Some(access) = &self.access {
            access.close();
        }
        if let Some(statsd) = &self.statsd {
            statsd.close();
        }
    }

    /// Writes down that a request was answered.
    #[inline]
    pub(crate) fn log_answer(&self, entry: &Entry<'_>) {
        if let Some(access) = &self.access {
            access.log(entry);
        }
        if let Some(statsd) = &self.statsd {
            statsd.note_request(entry.status, entry.run_micros());
        }
    }

    /// Writes down an answer of the server itself to a request of `peer`.
    pub(crate) fn log_own_answer(
        &self,
        request: &Request,
        (peer, listener): (Peer, u16),
        status: u16,
        bytes: u64,
    ) {
        if self.logs_answers() {
            let client = request.client(peer, &self.proxies);
            self.log_answer(&Entry { client, request, listener, fields: None, status, bytes });
        }
    }

    /// Whether answers are written down.
    #[inline]
    pub(crate) fn logs_answers(&self) -> bool {
        self.access.is_some() || self.statsd.is_some()
    }

    /// What the server adds to every response, here to `request` at the time `date`.
    pub(crate) fn server_fields<'a>(
        &'a self,
        date: &'a [u8; 29],
        request: &'a Request,
    ) -> ServerFields<'a> {
        self.server_fields_for(date, request.id())
    }

    /// As [`server_fields`](Config::server_fields), by the identifier of the request.
    pub(crate) fn server_fields_for<'a>(
        &'a self,
        date: &'a [u8; 29],
        request_id: Option<&'a [u8]>,
    ) -> ServerFields<'a> {
        ServerFields {
            date: self.date.then_some(date),
            server: self.server.as_deref().map(str::as_bytes),
            request_id,
        }
    }
}

impl Deadlines {
    /// How many milliseconds from `now` a body that began at `started` may pause after `received` bytes: no longer than allowed,
    /// and on the average it comes with at least the rate.
    pub(crate) fn body_pause(&self, started: u64, received: u64, now: u64) -> u64 {
        let pause = millis(self.body);
        let earned = received.saturating_mul(1000).checked_div(self.body_rate).unwrap_or(u64::MAX);
        let by_rate = started.saturating_add(pause).saturating_add(earned).saturating_sub(now);
        pause.min(by_rate)
    }
}

impl Default for Config {
    fn default() -> Self {
        Config {
            limits: Limits::default(),
            deadlines: Deadlines::default(),
            threads: 8,
            promote_after: Duration::from_millis(1),
            body_buffer: 1 << 20,
            read_ahead: 128 << 10,
            write_ahead: 64 << 10,
            websockets: WebSockets::default(),
            temporary_directory: std::env::temp_dir(),
            max_connections: 20_000,
            max_concurrency: None,
            timed: false,
            server: Some(concat!("pronghorn/", env!("CARGO_PKG_VERSION")).to_owned()),
            date: true,
            proxies: Proxies::default(),
            request_ids: false,
            access: None,
            statsd: None,
            metrics: None,
            metrics_path: None,
            health: None,
            replacement: None,
            witness: None,
            max_requests: None,
        }
    }
}

impl Default for Deadlines {
    fn default() -> Self {
        Deadlines {
            head: Duration::from_secs(10),
            body: Duration::from_secs(30),
            body_rate: 240,
            keep_alive: Duration::from_secs(15),
            write: Duration::from_secs(30),
            linger: Duration::from_secs(5),
            drain_delay: Duration::ZERO,
            graceful: Duration::from_secs(30),
            drain_idle: Duration::from_secs(1),
            drain_linger: Duration::from_secs(1),
            request: Some(Duration::from_secs(60)),
            request_grace: Duration::from_secs(5),
            slow_request: None,
            disconnect_grace: None,
            queue: Some(Duration::from_secs(30)),
        }
    }
}
