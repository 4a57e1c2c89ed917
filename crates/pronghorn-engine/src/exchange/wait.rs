//! Waiting for the client inside a request: leadership and the interpreter are given away first.

use std::io;
use std::time::{Duration, Instant};

use super::{Exchange, WriteError};
use crate::metrics::Timeout;
use crate::sys;

impl Exchange<'_> {
    /// Waits until the socket has room, at most for the write deadline.
    pub(super) fn wait_writable(&mut self) -> Result<(), WriteError> {
        let limit = self.thread.shared.config.deadlines.write;
        if !self.thread.slot.begin_wait() {
            self.abort();
            return Err(WriteError::Gone);
        }
        let ready = self.wait_for_client(true, limit);
        self.thread.slot.end_wait();
        match ready {
            Ok(true) => Ok(()),
            Ok(false) => {
                log::debug!(
                    "{}: the client did not read for {limit:?}; its connection is cut",
                    self.label()
                );
                if let Some(metrics) = &self.thread.shared.config.metrics {
                    metrics.timed_out(Timeout::Write);
                }
                self.abort();
                Err(WriteError::TooSlow)
            }
            Err(error) => self.give_up(&error).map_err(WriteError::from),
        }
    }

    /// Waits until the socket can be written or read; false when `limit` is over.
    pub(super) fn wait_for_client(&mut self, write: bool, limit: Duration) -> io::Result<bool> {
        let attached = self.thread.is_attached();
        self.thread.detach();
        let until = Instant::now() + limit;
        let ready = if self.thread.shared.single() || !self.thread.give_leadership() {
            self.wait_pumping(write, until)
        } else {
            self.thread.wait_apart(|| self.wait_alone(write, until))
        };
        if attached {
            self.thread.attach();
        }
        ready
    }

    fn wait_alone(&self, write: bool, until: Instant) -> io::Result<bool> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if sys::wait_ready(&self.job.socket, write, None, left)? {
                return Ok(true);
            }
            if left.is_zero() {
                return Ok(false);
            }
        }
    }

    /// The only thread there is does the I/O of all other connections while it waits.
    fn wait_pumping(&mut self, write: bool, until: Instant) -> io::Result<bool> {
        let shared = self.thread.shared.clone();
        while self.thread.leads_still() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(false);
            }
            let due = self.thread.begin_wait().map_or(left, Duration::from_millis);
            let events = std::os::fd::AsFd::as_fd(&*shared.selector);
            let ready = sys::wait_ready(&self.job.socket, write, Some(events), left.min(due))?;
            self.thread.has_polled();
            if ready {
                return Ok(true);
            }
            self.thread.pump();
        }
        self.wait_alone(write, until)
    }
}
