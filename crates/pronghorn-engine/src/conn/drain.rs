//! The drain as connections see it: no new ones, idle ones end, the others finish.

use std::time::Duration;

use super::{Conn, Phase, Token};
use crate::event_loop::EventLoop;
use crate::metrics::WorkerState;
use crate::sys;

impl EventLoop {
    /// Takes in what waits in the backlog, stops accepting and gives idle connections a last moment. Done once; later calls change
    /// nothing but the end, which `limit` brings forward.
    pub(crate) fn begin_drain(&mut self, limit: Option<Duration>) {
        let most = limit.unwrap_or(self.config.deadlines.graceful);
        let until = self.now.saturating_add(sys::millis(most));
        self.drain_until = self.drain_until.min(until);
        if std::mem::replace(&mut self.draining, true) {
            return;
        }
        if let Some(metrics) = &self.config.metrics {
            metrics.set_state(WorkerState::Draining);
        }
        self.accept_the_last();
        // A request may be on its way on them: it is answered, and told that the connection closes.
        for token in self.conns.tokens(Conn::is_idle) {
            self.set_deadline(token, self.config.deadlines.drain_idle);
        }
        for token in self.conns.tokens(|conn| matches!(conn.phase, Phase::Lingering(_))) {
            self.linger_on(token);
        }
    }

    /// The time of the drain is over: what loses nothing by it is closed. What is left is cut.
    pub(crate) fn close_quietly(&mut self) {
        for token in self.conns.tokens(|conn| !conn.is_busy()) {
            self.close(token);
        }
    }

    /// A connection that lingers is not to hold up the drain.
    pub(super) fn linger_on(&mut self, token: Token) {
        let Some(conn) = self.conns.get(token) else { return };
        if conn.is_settled() {
            return self.close(token);
        }
        let left = self.config.deadlines.drain_linger;
        let tick = self.wheel.after(self.now, sys::millis(left));
        if conn.deadline == 0 || tick < conn.deadline {
            self.set_deadline_tick(token, tick);
        }
    }
}
