//! The deadlines of a dialogue: the client's for what it sends and takes, the application's for its answer.

use std::mem;
use std::time::Duration;

use pronghorn_proto::error::Error;

use super::{Client, Line};
use crate::conn::{Phase, Token};
use crate::dialogue::summary::Stage;
use crate::event_loop::EventLoop;
use crate::hosted::Late;
use crate::metrics::Timeout;
use crate::sys;
use crate::timer::Tick;

impl Line {
    /// The response has begun: how long the application takes from here on is its own affair.
    pub(in crate::dialogue) fn answered(&mut self) {
        self.request_due = 0;
        self.slow_due = 0;
        self.paused = None;
        self.summary.note(Stage::Responding);
    }

    /// The application waits for its client from `now` on.
    pub(super) fn pause(&mut self, now: Tick) {
        if self.paused.is_none() {
            let left = |due: Tick| if due == 0 { 0 } else { due.saturating_sub(now).max(1) };
            self.paused = Some((left(self.request_due), left(self.slow_due)));
            self.request_due = 0;
            self.slow_due = 0;
        }
    }

    /// It has what it waited for.
    pub(super) fn resume(&mut self, now: Tick) {
        if let Some((request, slow)) = self.paused.take() {
            let due = |left: Tick| if left == 0 { 0 } else { now.saturating_add(left) };
            self.request_due = due(request);
            self.slow_due = due(slow);
        }
    }
}

impl EventLoop {
    /// A deadline of the dialogue may have passed.
    pub(crate) fn line_is_due(&mut self, token: Token, now: Tick) {
        let Some(talk) = self.conns.talk(token) else { return };
        let line = talk.line;
        let is_over = |due: &mut Tick| *due > 0 && *due <= now && mem::take(due) > 0;
        let (write, body) = (is_over(&mut line.write_due), is_over(&mut line.body_due));
        let (request, slow) = (is_over(&mut line.request_due), is_over(&mut line.slow_due));
        let gone = is_over(&mut line.gone_due);
        if gone {
            line.summary.note_grace_is_over();
        }
        let number = line.number();
        if write {
            sys::reset_on_close(talk.socket);
            line.client = Client::Gone;
            self.count_timeout(Timeout::Write);
            self.client_has_gone(token);
        }
        if body {
            self.count_timeout(Timeout::Body);
            self.body_failed_within(token, Error::BodyTimeout);
        }
        self.websocket_is_due(token, now);
        if gone {
            self.for_host(|host| host.late(number, Late::ClientGone));
        }
        if request {
            self.count_timeout(Timeout::Request);
            if !self.attached {
                self.give_up(token);
            }
            self.for_host(|host| host.late(number, Late::Overdue));
        } else if slow {
            self.for_host(|host| host.late(number, Late::Slow));
        }
        self.set_line_deadline(token);
    }

    fn count_timeout(&self, what: Timeout) {
        if let Some(metrics) = &self.config.metrics {
            metrics.timed_out(what);
        }
    }

    pub(super) fn set_request_deadlines(&mut self, token: Token) {
        let after = |limit: Option<Duration>| {
            limit.map_or(0, |limit| self.wheel.after(self.now, sys::millis(limit)))
        };
        let deadlines = &self.config.deadlines;
        let (request, slow) = (after(deadlines.request), after(deadlines.slow_request));
        if let Some(talk) = self.conns.talk(token) {
            talk.line.request_due = request;
            talk.line.slow_due = slow;
        }
        self.set_line_deadline(token);
    }

    /// The earliest of what is due is the connection's deadline.
    pub(in crate::dialogue) fn set_line_deadline(&mut self, token: Token) {
        let Some(conn) = self.conns.get(token) else { return };
        let Phase::Dialogue(line) = &conn.phase else { return };
        let websocket = line.websocket.as_ref().map_or(0, |websocket| websocket.due());
        let own = [line.write_due, line.body_due, line.request_due, line.slow_due, line.gone_due];
        let all = own.into_iter().chain([websocket]);
        match all.filter(|due| *due > 0).min() {
            None => conn.deadline = 0,
            Some(due) => self.set_deadline_tick(token, due),
        }
    }
}
