//! What the host's side asks of a WebSocket, for the application.

use pronghorn_proto::websocket::{self, Close, Kind};

use super::{Payload, WebSocket, gone, say};
use crate::conn::{Token, Watched};
use crate::dialogue::line::READS_A_TURN;
use crate::event_loop::EventLoop;
use crate::sys;

/// What there is for the application.
pub enum Next {
    /// A message was given.
    Message,
    /// It has ended, with this code and reason.
    Ended(Close),
    /// Nothing yet: the dialogue will be stirred.
    Pending,
}

impl EventLoop {
    /// The application takes the next message.
    pub(in crate::dialogue) fn next_message(
        &mut self,
        token: Token,
        take: &mut dyn FnMut(Kind, Payload<'_>),
    ) -> Next {
        self.now = sys::monotonic_millis();
        for reads in 1.. {
            let Some(talk) = self.conns.talk(token) else {
                return Next::Ended(gone());
            };
            talk.line.unstir();
            let Some(websocket) = &mut talk.line.websocket else { return Next::Ended(gone()) };
            if let Some(message) = websocket.messages.pop_front() {
                websocket.waiting -= message.length;
                message.give(take);
                self.read_on(token);
                return Next::Message;
            }
            if websocket.last.is_some() && !websocket.has_ended() {
                say(&mut talk.line.output, |out| websocket.end_if_taken(out));
                self.flush_line(token);
                continue;
            }
            if let Some(close) = &websocket.ended {
                return Next::Ended(close.clone());
            }
            if !talk.line.client.takes_output() {
                return Next::Ended(gone());
            }
            let mut given = false;
            let went_on = self.read_frames(
                token,
                &mut |kind, data| {
                    given = true;
                    take(kind, data);
                },
                false,
            );
            self.flush_answers(token);
            if given {
                self.read_on(token);
                return Next::Message;
            }
            let has_ended = self.has_websocket_ended(token);
            if has_ended {
                continue;
            }
            if went_on && reads >= READS_A_TURN {
                self.go_on_later(token);
            }
            if !went_on || reads >= READS_A_TURN {
                break;
            }
        }
        if let Some(talk) = self.conns.talk(token) {
            talk.line.wants_input = true;
        }
        self.watch(token, Watched::Read);
        self.set_line_deadline(token);
        Next::Pending
    }

    /// The line of a connection becomes a WebSocket's.
    pub(in crate::dialogue) fn open_websocket(&mut self, token: Token, websocket: WebSocket) {
        if let Some(talk) = self.conns.talk(token) {
            talk.line.websocket = Some(Box::new(websocket));
        }
        self.heard_of(token);
        self.watch_line(token);
        self.set_line_deadline(token);
        if self.conns.get(token).is_some_and(|conn| conn.noted.ended) {
            self.begin_grace(token);
        }
    }

    /// Puts the frame of a message into `out`: all of it if it is compressed, which is told, else its head. None when the WebSocket has
    /// ended.
    pub(in crate::dialogue) fn encode_message(
        &mut self,
        token: Token,
        kind: Kind,
        data: &[u8],
        out: &mut Vec<u8>,
    ) -> Option<bool> {
        let deflaters = &mut self.compression.deflaters;
        let talk = self.conns.talk(token);
        let websocket = talk.and_then(|talk| talk.line.websocket.as_mut())?;
        if websocket.has_ended() {
            return None;
        }
        if websocket.encoder.compresses(data.len()) {
            websocket.encoder.put(kind, data, deflaters, out);
            return Some(true);
        }
        out.extend_from_slice(websocket::head(kind, data.len()).as_bytes());
        Some(false)
    }

    /// Ends a WebSocket with a close frame, unless it has ended. Gives how it ended.
    pub(in crate::dialogue) fn close_websocket(
        &mut self,
        token: Token,
        code: u16,
        reason: &str,
    ) -> Close {
        let Some(talk) = self.conns.talk(token) else { return gone() };
        let Some(websocket) = &mut talk.line.websocket else { return gone() };
        if let Some(close) = &websocket.ended {
            return close.clone();
        }
        let close = Close { code, reason: reason.to_owned() };
        websocket.end(close.clone());
        say(&mut talk.line.output, |out| websocket::put_close(code, reason, out));
        self.flush_line(token);
        close
    }

    /// What was said last is to arrive: the connection lingers.
    pub(in crate::dialogue) fn linger_after(&mut self, token: Token) {
        if let Some(conn) = self.conns.get(token) {
            conn.noted.readable = true;
        }
    }

    /// What was not read, as too much waited, may be a ping or its answer: it is read as soon as there is room.
    fn read_on(&mut self, token: Token) {
        let Some(conn) = self.conns.get(token) else { return };
        let is_readable = conn.noted.readable;
        let websocket = conn.talk().and_then(|talk| talk.line.websocket.as_ref());
        if websocket.is_some_and(|it| !it.is_over() && (is_readable || !it.input.is_empty())) {
            self.go_on_later(token);
        }
    }

    /// Sends what the client is answered, unless that waits for others.
    fn flush_answers(&mut self, token: Token) {
        if self.conns.talk(token).is_some_and(|talk| !talk.line.is_kept) {
            self.flush_line(token);
        }
    }

    fn has_websocket_ended(&mut self, token: Token) -> bool {
        self.websocket(token).is_none_or(|websocket| websocket.has_ended())
    }

    fn websocket(&mut self, token: Token) -> Option<&mut WebSocket> {
        self.conns.get(token)?.talk()?.line.websocket.as_deref_mut()
    }
}
