//! What the host's side asks of a line, for the application.

use std::mem;

use pronghorn_proto::encode::CONTINUE;
use pronghorn_proto::error::Error;

use super::Client;
use crate::conn::{self, Token};
use crate::dialogue::inflow::Piece;
use crate::event_loop::EventLoop;
use crate::sys;

/// What an application gets when it asks for more of its request.
pub(crate) enum Input {
    /// A part of the body, and whether more is to come.
    Body(Option<Piece>, bool),
    /// The client has gone, or the request is answered.
    Disconnect,
    /// Nothing yet.
    Pending,
}

impl EventLoop {
    /// What there is of the request for the application.
    pub(in crate::dialogue) fn take_input(&mut self, token: Token) -> Input {
        self.now = sys::monotonic_millis();
        let Some(talk) = self.conns.talk(token) else {
            return Input::Disconnect;
        };
        talk.line.is_stirred = false;
        talk.line.body_due = 0;
        if mem::replace(&mut talk.line.wants_input, false) {
            talk.line.inflow.end_wait(self.now);
        }
        if talk.state.wants_continue() {
            self.ask_for_body(token);
        }
        if let Some(input) = self.held_input(token) {
            return input;
        }
        if self.conns.get(token).is_some_and(|conn| conn.noted.readable) {
            self.read_ahead(token);
        }
        self.held_input(token).unwrap_or_else(|| self.wait_for_input(token))
    }

    /// The application does not wait for input any longer: the client has time, and what it says to a WebSocket is read here.
    pub(in crate::dialogue) fn stop_waiting(&mut self, token: Token) {
        self.now = sys::monotonic_millis();
        let (now, tick) = (self.now, self.wheel.after(self.now, 0));
        let Some(talk) = self.conns.talk(token) else { return };
        talk.line.body_due = 0;
        talk.line.resume(tick);
        if mem::replace(&mut talk.line.wants_input, false) {
            talk.line.inflow.end_wait(now);
        }
        if talk.line.websocket.is_some() {
            self.go_on_later(token);
        }
        self.set_line_deadline(token);
    }

    /// Whether more of the body follows what came with the head.
    pub(in crate::dialogue) fn has_more_input(&mut self, token: Token) -> bool {
        let Some(talk) = self.conns.talk(token) else { return false };
        let is_all = talk.line.inflow.is_complete() && talk.line.inflow.holds_nothing();
        talk.line.told_end = is_all;
        !is_all
    }

    fn held_input(&mut self, token: Token) -> Option<Input> {
        let line = self.conns.get(token)?.talk()?.line;
        let piece = line.inflow.take();
        let is_complete = line.inflow.is_complete();
        if piece.is_some() {
            line.told_end = is_complete;
            if !is_complete && self.conns.get(token).is_some_and(|conn| conn.noted.readable) {
                // The client goes on as soon as there is room.
                self.read_ahead(token);
            }
            return Some(Input::Body(piece, !is_complete));
        }
        if is_complete && !mem::replace(&mut line.told_end, true) {
            return Some(Input::Body(None, false));
        }
        if line.inflow.failed.is_some() || line.client > Client::HalfClosed {
            if line.client == Client::Left {
                line.client = Client::KnownToLeave;
            }
            return Some(Input::Disconnect);
        }
        None
    }

    /// Why no more of the body comes, if that is so.
    pub(in crate::dialogue) fn body_fault(&mut self, token: Token) -> Option<Error> {
        self.conns.get(token)?.talk()?.line.inflow.failed
    }

    /// A client that the application takes for gone is sent one more answer.
    pub(in crate::dialogue) fn takes_refusal(&mut self, token: Token) {
        if let Some(talk) = self.conns.talk(token)
            && talk.line.client == Client::KnownToLeave
        {
            talk.line.client = Client::Left;
        }
    }

    fn wait_for_input(&mut self, token: Token) -> Input {
        let Some(talk) = self.conns.talk(token) else {
            return Input::Disconnect;
        };
        talk.line.wants_input = true;
        if talk.line.inflow.is_open() {
            let (started, received) = talk.line.inflow.begin_wait(self.now);
            let pause = self.config.deadlines.body_pause(started, received, self.now);
            talk.line.body_due = self.wheel.after(self.now, pause);
            talk.line.pause(self.wheel.after(self.now, 0));
            self.set_line_deadline(token);
        }
        self.watch_line(token);
        Input::Pending
    }

    /// The application asks for a body that the client sends only after `100 Continue`.
    fn ask_for_body(&mut self, token: Token) {
        let Some(talk) = self.conns.talk(token) else { return };
        talk.line.output.push(conn::Piece::Owned(CONTINUE.to_vec(), 0));
        talk.state.continue_sent();
        self.flush_line(token);
    }

    /// Whether more output may come; none if nothing can be sent. If not, the host is told when it may.
    pub(in crate::dialogue) fn room(&mut self, token: Token) -> Option<bool> {
        let most = self.config.write_ahead;
        let talk = self.conns.talk(token)?;
        talk.line.is_stirred = false;
        let has_ended = talk.line.websocket.as_ref().is_some_and(|websocket| websocket.has_ended());
        if has_ended || !talk.line.client.takes_output() {
            return None;
        }
        let has_room = talk.line.output.waiting() <= most;
        talk.line.wants_room = !has_room;
        Some(has_room)
    }
}
