//! The drain as connections see it: no new ones, idle ones end, the others finish.

use super::Conn;
use crate::event_loop::EventLoop;

impl EventLoop {
    /// Takes in what waits in the backlog, stops accepting and gives idle connections a last moment. Done once; later calls change
    /// nothing.
    pub(crate) fn begin_drain(&mut self) {
        if self.draining {
            return;
        }
        self.draining = true;
        let graceful =
            u64::try_from(self.config.deadlines.graceful.as_millis()).unwrap_or(u64::MAX);
        self.drain_until = self.now.saturating_add(graceful);
        self.accept_the_last();
        // A request may be on its way on them: it is answered, and told that the connection closes.
        for token in self.conns.tokens(Conn::is_idle) {
            self.set_deadline(token, self.config.deadlines.drain_idle);
        }
    }
}
