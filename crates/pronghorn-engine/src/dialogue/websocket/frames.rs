//! From bytes to messages: read once, decoded as far as there is room.

use std::borrow::Cow;
use std::mem;

use pronghorn_proto::websocket::{self, Close, Kind};

use super::{Message, Payload};
use crate::body::{SCRATCH, reserve};
use crate::conn::{self, Token};
use crate::dialogue::line::Talk;
use crate::event_loop::EventLoop;
use crate::sys;

impl EventLoop {
    /// Reads once and decodes; with `keep`, messages wait in the queue, else the first goes to `take`. Gives whether to go on.
    pub(super) fn read_frames(
        &mut self,
        token: Token,
        take: &mut dyn FnMut(Kind, Payload<'_>),
        keep: bool,
    ) -> bool {
        let (settings, bound) = (self.config.websockets, self.config.read_ahead);
        let Some(conn) = self.conns.get(token) else { return false };
        let is_readable = conn.noted.readable || conn.noted.ended;
        let Some(talk) = conn.talk() else { return false };
        let Some(websocket) = &mut talk.line.websocket else { return false };
        let is_full = keep && websocket.is_full(&settings, bound);
        if websocket.is_over() || is_full || websocket.owes_answers() {
            return false;
        }
        let mut read = mem::take(&mut websocket.input);
        if read.is_empty() {
            if !is_readable {
                return false;
            }
            match self.read_bytes(token) {
                Some(bytes) => read = bytes,
                None => return false,
            }
        }
        self.decode(token, read, take, keep)
    }

    /// Reads once, into memory that is reused.
    fn read_bytes(&mut self, token: Token) -> Option<Vec<u8>> {
        let mut scratch = mem::take(&mut self.scratch);
        scratch.clear();
        if reserve(&mut scratch, SCRATCH).is_err() {
            return None;
        }
        let conn = self.conns.get(token)?;
        let ended = conn.noted.ended;
        let socket = conn.socket.as_ref()?;
        let outcome = sys::recv(socket, &mut scratch, SCRATCH);
        match outcome {
            Ok(read) if read > 0 => {
                conn.noted.readable = read == SCRATCH || ended;
                if let Some(metrics) = &self.config.metrics {
                    metrics.received(read);
                }
                return Some(scratch);
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                conn.noted.readable = false;
            }
            _ => {
                conn.noted.readable = false;
                if let Some(websocket) = conn.talk().and_then(|talk| talk.line.websocket.as_mut()) {
                    let code = websocket::close::ABNORMAL;
                    websocket.leave(Close { code, reason: String::new() });
                    websocket.end_if_taken(&mut Vec::new());
                }
            }
        }
        self.scratch = scratch;
        None
    }

    fn decode(
        &mut self,
        token: Token,
        mut read: Vec<u8>,
        take: &mut dyn FnMut(Kind, Payload<'_>),
        keep: bool,
    ) -> bool {
        let (settings, bound) = (self.config.websockets, self.config.read_ahead);
        let compression = &mut self.compression;
        let (handler, attached) = (&self.handler, self.attached);
        let lend = |length| if attached { handler.body_buffer(length) } else { None };
        let Some(talk) = self.conns.talk(token) else { return false };
        let Talk { line, .. } = talk;
        let Some(websocket) = &mut line.websocket else { return false };
        let (mut input, mut answers) = (&mut read[..], Vec::new());
        let goes_on = loop {
            if keep && websocket.is_full(&settings, bound) {
                break false;
            }
            let mut kept = None;
            let mut either = |kind, bytes: Cow<'_, [u8]>| match keep {
                true => kept = Some(Message::keep(kind, bytes, lend)),
                false => take(kind, Payload::Slice(&bytes)),
            };
            let found =
                websocket.decode(&mut input, &settings, compression, &mut answers, &mut either);
            if let Some(message) = kept {
                websocket.waiting += message.length;
                websocket.messages.push_back(message);
            } else if !found {
                break !websocket.is_over();
            } else {
                break false;
            }
        };
        websocket.answers += answers.len();
        line.output.push(conn::Piece::Owned(answers, 0));
        let rest = input.len();
        if rest > 0 && !websocket.is_over() {
            websocket.input = read[read.len() - rest..].to_vec();
        }
        if self.scratch.capacity() == 0 {
            self.scratch = read;
        }
        goes_on
    }
}
