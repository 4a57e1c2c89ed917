//! Deadlines of connections: set, looked at, and what happens to who is late.

use std::time::Duration;

use pronghorn_proto::error::Error;

use super::{Conn, Phase, Token};
use crate::event_loop::EventLoop;
use crate::metrics::Timeout;
use crate::sys;
use crate::timer::{Reminder, Tick};

impl EventLoop {
    /// The connection has to get on within `time` from now.
    pub(crate) fn set_deadline(&mut self, token: Token, time: Duration) {
        let tick = self.wheel.after(self.now, sys::millis(time));
        self.set_deadline_tick(token, tick);
    }

    /// The deadline of a body: no pause longer than allowed, and on the average at least the rate.
    pub(crate) fn set_body_deadline(&mut self, token: Token, started: u64, received: u64) {
        let pause = self.config.deadlines.body_pause(started, received, self.now);
        let tick = self.wheel.after(self.now, pause);
        self.set_deadline_tick(token, tick);
    }

    /// A reminder fired at `now`.
    pub(crate) fn look_at_deadline(&mut self, reminder: Reminder, now: Tick) {
        let token = Token { index: reminder.index, generation: reminder.generation };
        let Some(conn) = self.conns.get(token) else { return };
        if conn.reminder > now {
            return; // an older reminder: the one that counts is still to come
        }
        conn.reminder = 0;
        match conn.deadline {
            0 => {}
            deadline if deadline <= now => self.expire(token, now),
            deadline => self.set_deadline_tick(token, deadline),
        }
    }

    pub(crate) fn set_deadline_tick(&mut self, token: Token, tick: Tick) {
        let Some(conn) = self.conns.get(token) else { return };
        conn.deadline = tick;
        if conn.reminder == 0 || tick < conn.reminder {
            let reminder = Reminder { index: token.index, generation: token.generation };
            conn.reminder = self.wheel.remind(tick, reminder);
            let due = self.wheel.millis(conn.reminder);
            self.wake_leader |= due < self.waits_until;
            self.bring_timer_forward(due);
        }
    }

    fn expire(&mut self, token: Token, now: Tick) {
        let Some(conn) = self.conns.get(token) else { return };
        if let (Some(metrics), Some(what)) = (&self.config.metrics, kind(conn, self.draining)) {
            metrics.timed_out(what);
        }
        match std::mem::replace(&mut conn.phase, Phase::Idle) {
            Phase::Head(request) => self.refuse(token, request, Error::HeadTimeout),
            Phase::Body(request) => self.refuse(token, request, Error::BodyTimeout),
            Phase::Running => conn.phase = Phase::Running,
            Phase::Dialogue(line) => {
                conn.phase = Phase::Dialogue(line);
                self.line_is_due(token, now);
            }
            Phase::Idle | Phase::Writing(..) | Phase::Lingering(_) => self.close(token),
        }
    }
}

/// What a connection is late with.
fn kind(conn: &Conn, draining: bool) -> Option<Timeout> {
    match conn.phase {
        Phase::Head(_) => Some(Timeout::Head),
        Phase::Body(_) => Some(Timeout::Body),
        Phase::Writing(..) => Some(Timeout::Write),
        Phase::Idle if conn.answered_at == 0 => Some(Timeout::Head),
        Phase::Idle => (!draining).then_some(Timeout::KeepAlive),
        Phase::Running | Phase::Dialogue(_) | Phase::Lingering(_) => None,
    }
}
