//! A WebSocket as its application has it.

use pronghorn_proto::websocket::{Close, Kind};

use super::out::Out;
use super::websocket::{Next, Payload, WebSocket};
use super::{Dialogue, Room};
use crate::conn::Retained;
use crate::date::date_now;
use crate::exchange::Gone;
use crate::reply::Stage;

/// The code of an end by a failure of the server's side (RFC 6455 section 7.4.1).
const FAILURE: u16 = 1011;

impl Dialogue {
    /// Whether the client asks for a WebSocket that was not accepted yet.
    pub fn asks_for_websocket(&self) -> bool {
        self.handshake.is_some()
    }

    /// Whether the connection is a WebSocket.
    pub fn is_switched(&self) -> bool {
        matches!(self.reply.stage, Stage::Switched)
    }

    /// Accepts the WebSocket that the client asks for, with the fields so far. `subprotocol` is one of those offered.
    ///
    /// # Errors
    /// The client is gone, or does not ask for one.
    pub fn accept(&mut self, subprotocol: Option<&[u8]>) -> Result<(), Gone> {
        let handshake = self.handshake.take().ok_or(Gone)?;
        self.reply.persistent = false;
        self.reply.status = 101;
        let Some(mut out) = Out::of(self) else { return Err(Gone) };
        let date = date_now();
        let server = out.shared.config.server_fields(&date, out.request);
        out.head.clear();
        handshake.put_head(out.head, subprotocol, out.fields, &server);
        let sent = out.begin().and_then(|()| out.send(b"", b"", || Box::new([])));
        let rest = out.request.buffer[out.request.consumed..].to_vec();
        out.event_loop.open_websocket(out.token, WebSocket::new(handshake.deflate, rest));
        drop(out);
        if sent.is_err() {
            self.lose();
            return sent;
        }
        self.reply.stage = Stage::Switched;
        self.forget_rest();
        Ok(())
    }

    /// The next message of the client, which `take` is given if it is there. `take` must not run code of the application.
    pub fn next_message(&mut self, take: &mut dyn FnMut(Kind, Payload<'_>)) -> Next {
        let next = self.shared.event_loop().next_message(self.token, take);
        if matches!(next, Next::Ended(_)) && self.request.is_some() {
            self.leave_to_grace();
            self.release_websocket();
        }
        next
    }

    /// Sends a message. A text is UTF-8. `keep` is asked for an owner of the same bytes only when the socket does not take all at once.
    ///
    /// # Errors
    /// The WebSocket has ended.
    pub fn send_message(
        &mut self,
        kind: Kind,
        data: &[u8],
        keep: impl FnOnce() -> Retained,
    ) -> Result<Room, Gone> {
        if !self.is_switched() {
            return Err(Gone);
        }
        let Some(mut out) = Out::of(self) else { return Err(Gone) };
        out.head.clear();
        let encoded = out.event_loop.encode_message(out.token, kind, data, out.head);
        let compressed = encoded.ok_or(Gone)?;
        let data = if compressed {
            out.reply.sent += data.len() as u64;
            &[][..]
        } else {
            data
        };
        let sent = out.begin().and_then(|()| out.send(data, b"", keep));
        drop(out);
        sent.and_then(|()| self.room())
    }

    /// Ends the WebSocket with `code` and `reason`. Gives how it has ended, which the client may have caused before.
    pub fn close(&mut self, code: u16, reason: &str) -> Option<Close> {
        if !self.is_switched() {
            return None;
        }
        let close = self.shared.event_loop().close_websocket(self.token, code, reason);
        self.release_websocket();
        Some(close)
    }

    /// Ends it as after a failure of the application.
    pub(super) fn fail_websocket(&mut self) {
        self.close(FAILURE, "");
    }

    fn release_websocket(&mut self) {
        self.shared.event_loop().linger_after(self.token);
        self.release();
    }

    /// What was read with the handshake is the WebSocket's by now.
    fn forget_rest(&mut self) {
        if let Some(request) = &mut self.request {
            request.buffer.truncate(request.consumed);
            request.buffer.shrink_to_fit();
        }
        self.head = Vec::new();
    }
}
