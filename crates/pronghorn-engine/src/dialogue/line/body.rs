//! The body of a request as it comes: read ahead of the application, up to a bound.

use pronghorn_proto::error::Error;

use crate::conn::{Phase, Step, Token};
use crate::dialogue::inflow::Read;
use crate::dialogue::line::{Client, READS_A_TURN};
use crate::event_loop::EventLoop;

impl EventLoop {
    /// Reads the body as far as it is there and may be held.
    pub(crate) fn read_ahead(&mut self, token: Token) {
        for _ in 0..READS_A_TURN {
            match self.read_piece(token) {
                Step::More => {}
                Step::Wait => return self.watch_line(token),
                Step::Left => return,
            }
        }
        self.go_on_later(token);
    }

    fn read_piece(&mut self, token: Token) -> Step {
        let bound = self.config.read_ahead;
        let (handler, attached) = (&self.handler, self.attached);
        let Some(conn) = self.conns.get(token) else { return Step::Left };
        let noted = &mut conn.noted;
        let (Phase::Dialogue(line), Some(socket)) = (&mut conn.phase, &conn.socket) else {
            return Step::Left;
        };
        if !line.inflow.is_open() || line.inflow.is_full(bound) {
            return Step::Left;
        }
        let lend = |length| if attached { handler.body_buffer(length) } else { None };
        match line.inflow.recv(socket, &mut self.scratch, bound, lend) {
            Ok(Read { bytes: 0, .. }) => self.body_failed_within(token, Error::BodyTruncated),
            Ok(Read { bytes, drained }) => {
                noted.readable = !drained || noted.ended;
                self.took_piece(token, bytes)
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                noted.readable = false;
                Step::Wait
            }
            Err(_) => {
                line.client = Client::Gone;
                self.begin_grace(token);
                self.body_failed_within(token, Error::BodyTruncated)
            }
        }
    }

    fn took_piece(&mut self, token: Token, bytes: usize) -> Step {
        if let Some(metrics) = &self.config.metrics {
            metrics.received(bytes);
        }
        let tick = self.wheel.after(self.now, 0);
        let Some(talk) = self.conns.talk(token) else { return Step::Left };
        talk.line.resume(tick);
        if let Some(error) = talk.line.inflow.failed.take() {
            return self.body_failed_within(token, error);
        }
        let step = if talk.line.inflow.is_complete() {
            talk.state.body_complete();
            talk.line.body_due = 0;
            Step::Left
        } else {
            Step::More
        };
        let is_waited_for = talk.line.wants_input && !talk.line.inflow.awaits_bytes();
        if is_waited_for {
            self.stir(token);
            self.input_has_come(token);
        }
        self.set_line_deadline(token);
        step
    }

    /// How long the application takes to come for it is not the client's affair.
    fn input_has_come(&mut self, token: Token) {
        let now = self.now;
        let Some(talk) = self.conns.talk(token) else { return };
        talk.line.inflow.end_wait(now);
        talk.line.wants_input = false;
        talk.line.body_due = 0;
    }

    /// No more of the body comes, as it is malformed, cut or late.
    pub(in crate::dialogue) fn body_failed_within(&mut self, token: Token, error: Error) -> Step {
        let tick = self.wheel.after(self.now, 0);
        let Some(talk) = self.conns.talk(token) else { return Step::Left };
        talk.line.resume(tick);
        talk.line.inflow.failed = Some(error);
        talk.line.body_due = 0;
        talk.state.request_failed();
        self.stir(token);
        Step::Left
    }
}
