//! Receiving a body that the client sends only after `100 Continue`.

use std::io;
use std::mem;
use std::time::Duration;

use pronghorn_proto::encode::CONTINUE;
use pronghorn_proto::error::Error;

use super::Exchange;
use crate::body::{Body, BodyError, Intake};
use crate::conn::storage;
use crate::metrics::Timeout;
use crate::request::BodyState;
use crate::sys;

impl Exchange<'_> {
    /// The request's body: where the client waits for it, `100 Continue` is sent and the body received, detached. Otherwise as
    /// [`take_body`](Exchange::take_body).
    ///
    /// # Errors
    /// The body was cut, malformed, too large or too late, or could not be stored. The connection closes after the response.
    pub fn receive_body(&mut self) -> Result<Body, BodyError> {
        let mut intake = match mem::replace(&mut self.job.request.body, BodyState::None) {
            BodyState::Expected(intake) | BodyState::Arriving(intake) => intake,
            other => {
                self.job.request.body = other;
                return Ok(self.take_body());
            }
        };
        match self.receive_in_time(&mut intake) {
            Ok(()) => Ok(intake.finish()),
            Err(error) => {
                if let BodyError::Refused(error) = &error {
                    self.refused = Some(*error);
                    self.count_timeout(*error);
                }
                self.job.state.request_failed();
                Err(error)
            }
        }
    }

    /// For all of it the request waits for its client, so that nobody answers it beside the `100 Continue`.
    fn receive_in_time(&mut self, intake: &mut Intake) -> Result<(), BodyError> {
        if !self.thread.slot.begin_wait() {
            return Err(BodyError::Connection(io::Error::other("the request is over its time")));
        }
        let received = self.receive(intake);
        self.thread.slot.end_wait();
        received
    }

    fn receive(&mut self, intake: &mut Intake) -> Result<(), BodyError> {
        if self.job.state.wants_continue() {
            self.send_continue()?;
        }
        intake.started = sys::monotonic_millis();
        let config = self.thread.shared.config.clone();
        let mut scratch = Vec::new();
        loop {
            match intake.recv(&self.job.socket, &mut scratch, &storage(&config)) {
                Ok(received) => {
                    if let Some(metrics) = &config.metrics {
                        metrics.received(received.read);
                    }
                    if received.complete {
                        break;
                    }
                    if received.read == 0 {
                        return Err(Error::BodyTruncated.into());
                    }
                }
                Err(BodyError::Connection(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.wait_for_body(intake)?;
                }
                Err(error) => return Err(error),
            }
        }
        self.job.request.buffer.append(&mut scratch);
        self.job.state.body_complete();
        Ok(())
    }

    fn count_timeout(&self, error: Error) {
        if let Some(metrics) = &self.thread.shared.config.metrics
            && error == Error::BodyTimeout
        {
            metrics.timed_out(Timeout::Body);
        }
    }

    fn send_continue(&mut self) -> Result<(), BodyError> {
        let mut left = CONTINUE;
        while !left.is_empty() {
            match sys::send(&self.job.socket, left) {
                Ok(sent) => left = &left[sent..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    let limit = self.thread.shared.config.deadlines.write;
                    if !self.wait_for_client(true, limit).map_err(BodyError::Connection)? {
                        return Err(Error::BodyTimeout.into());
                    }
                }
                Err(error) => return Err(BodyError::Connection(error)),
            }
        }
        self.job.state.continue_sent();
        Ok(())
    }

    fn wait_for_body(&mut self, intake: &Intake) -> Result<(), BodyError> {
        let deadlines = self.thread.shared.config.deadlines;
        let limit =
            deadlines.body_pause(intake.started, intake.received(), sys::monotonic_millis());
        match self.wait_for_client(false, Duration::from_millis(limit)) {
            Ok(true) => Ok(()),
            Ok(false) => Err(Error::BodyTimeout.into()),
            Err(error) => Err(BodyError::Connection(error)),
        }
    }
}
