//! The client of a dialogue: whether it is there, and how long its application may go on when it is not.

use super::Talk;
use crate::conn::Token;
use crate::dialogue::summary::{Stage, Summary};
use crate::event_loop::EventLoop;
use crate::sys::{self, Ready};

/// What is known of the client, in the order in which less may come of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(in crate::dialogue) enum Client {
    Here,
    /// It ended its side before the application began: it may wait for the answer.
    HalfClosed,
    /// It ended its side since: most likely it has gone, but what is sent may still arrive.
    Left,
    /// As `Left`, and the application knows.
    KnownToLeave,
    /// Nothing can be sent.
    Gone,
}

impl EventLoop {
    /// The selector reported something for a connection in a dialogue.
    pub(crate) fn on_line_ready(&mut self, token: Token, ready: &Ready) {
        if ready.writable {
            self.flush_line(token);
        }
        let talk = self.conns.talk(token);
        if talk.is_some_and(|talk| talk.line.websocket.is_some()) {
            return self.on_websocket_ready(token, ready);
        }
        self.read_ahead(token);
        let Some(talk) = self.conns.talk(token) else { return };
        match talk.line.client {
            Client::Gone => {}
            _ if ready.gone => talk.line.client = Client::Gone,
            Client::Here if ready.ended => {
                let has_begun = talk.line.summary.stage() > Stage::Waiting;
                talk.line.client = if has_begun { Client::Left } else { Client::HalfClosed };
            }
            _ => {}
        }
        if talk.line.client > Client::HalfClosed {
            self.client_has_gone(token);
        }
    }

    fn on_websocket_ready(&mut self, token: Token, ready: &Ready) {
        if ready.gone
            && let Some(talk) = self.conns.talk(token)
        {
            talk.line.client = Client::Gone;
        }
        self.read_websocket(token);
        if ready.gone || ready.ended {
            // Its end may lie behind more than is read. A WebSocket has no use for one side alone.
            self.begin_grace(token);
        }
    }

    /// The application has it from here on. Its client may have gone before; one that only ended its side waits for the answer.
    pub(crate) fn has_begun(&mut self, token: Token) {
        let Some(Talk { line, .. }) = self.conns.talk(token) else { return };
        if line.client > Client::HalfClosed {
            self.begin_grace(token);
        }
    }

    /// The application is told if it waits, and ended if it goes on for too long.
    pub(super) fn client_has_gone(&mut self, token: Token) {
        self.stir(token);
        self.begin_grace(token);
    }

    /// The client has gone: from now on the application may go on for as long as the grace is. Done once, and not before it has begun.
    pub(in crate::dialogue) fn begin_grace(&mut self, token: Token) {
        let Some(grace) = self.config.deadlines.disconnect_grace else { return };
        // The turn may have begun long ago.
        let due = self.wheel.after(sys::monotonic_millis(), sys::millis(grace));
        let Some(Talk { line, .. }) = self.conns.talk(token) else { return };
        let has_begun = line.summary.stage() > Stage::Waiting;
        if has_begun && line.gone_due == 0 && line.summary.may_have_grace() {
            line.gone_due = due;
            self.set_line_deadline(token);
        }
    }

    /// A dialogue is about to end as its client has gone: its application may go on until the grace is over. Gives when that is, in
    /// milliseconds of the monotonic clock, if it has a grace that is not over.
    pub(in crate::dialogue) fn leave_to_grace(
        &mut self,
        token: Token,
        summary: &Summary,
    ) -> Option<u64> {
        let grace = self.config.deadlines.disconnect_grace?;
        if !summary.may_have_grace() {
            return None;
        }
        let latest = sys::monotonic_millis().saturating_add(sys::millis(grace));
        // The loop may have closed the connection.
        let due = match self.conns.talk(token).map(|talk| talk.line.gone_due) {
            Some(due @ 1..) => self.wheel.millis(due).min(latest),
            _ => latest,
        };
        self.for_host(|host| host.leave_until(due, summary.number()));
        self.bring_timer_forward(due);
        Some(due)
    }
}

impl Client {
    /// Whether anything may still be sent.
    pub(in crate::dialogue) fn takes_output(self) -> bool {
        !matches!(self, Client::KnownToLeave | Client::Gone)
    }
}
