//! Frames of the server (RFC 6455 section 5).
//!
//! Each message is one frame. A frame without compression need not be built: [`FrameHead`] goes
//! before the payload where that is.

use super::close;
use super::deflate::{Agreement, Deflater, Deflaters};
use super::event::Kind;
use super::frame::{FrameHead, Opcode};

/// Makes the frames of one connection's messages.
#[derive(Debug, Default)]
pub struct Encoder {
    deflate: Option<Agreement>,
    /// With context takeover, from the first compressed message on.
    deflater: Option<Box<Deflater>>,
}

impl Encoder {
    /// An encoder for what follows a handshake that agreed on `deflate`.
    pub fn new(deflate: Option<Agreement>) -> Encoder {
        Encoder { deflate, deflater: None }
    }

    /// Whether a message of `length` bytes is worth compressing. If not, [`head`] and the message
    /// itself are the frame.
    pub fn compresses(&self, length: usize) -> bool {
        self.deflate.is_some() && length >= LEAST_COMPRESSED
    }

    /// Appends a message to `out` as a frame, compressed if that is agreed and pays. Deflating
    /// borrows from `deflaters`.
    pub fn put(
        &mut self,
        kind: Kind,
        message: &[u8],
        deflaters: &mut Deflaters,
        out: &mut Vec<u8>,
    ) {
        let agreement = self.deflate.filter(|_| self.compresses(message.len()));
        let compressed = agreement
            .is_some_and(|agreement| self.put_compressed(agreement, kind, message, deflaters, out));
        if !compressed {
            out.extend_from_slice(head(kind, message.len()).as_bytes());
            out.extend_from_slice(message);
        }
    }

    /// Leaves `out` as it was, and says so, if the message would not get smaller. With context
    /// takeover it is sent as it is, since the client has to see what later messages refer to.
    fn put_compressed(
        &mut self,
        agreement: Agreement,
        kind: Kind,
        message: &[u8],
        deflaters: &mut Deflaters,
        out: &mut Vec<u8>,
    ) -> bool {
        let start = out.len();
        let body = start + FrameHead::LONGEST;
        out.resize(body, 0);
        let mut deflater = self.deflater.take().unwrap_or_else(|| deflaters.lend(&agreement));
        deflater.deflate(message, out);
        let worth = agreement.server_takeover || out.len() - body < message.len();
        match agreement.server_takeover {
            true => self.deflater = Some(deflater),
            false => deflaters.take_back(deflater),
        }
        match worth {
            true => close_gap(out, start, kind),
            false => out.truncate(start),
        }
        worth
    }
}

/// Puts the head at `start`, and moves the deflated message, behind room for the longest head, up to it.
fn close_gap(out: &mut Vec<u8>, start: usize, kind: Kind) {
    let body = start + FrameHead::LONGEST;
    let length = out.len() - body;
    let head = FrameHead::new(kind.opcode(), true, length);
    let head = head.as_bytes();
    out[start..start + head.len()].copy_from_slice(head);
    out.copy_within(body.., start + head.len());
    out.truncate(start + head.len() + length);
}

/// The head of the frame of a message of `length` bytes that is not compressed.
pub fn head(kind: Kind, length: usize) -> FrameHead {
    FrameHead::new(kind.opcode(), false, length)
}

/// Appends a ping. `payload` has 125 bytes at most.
pub fn put_ping(payload: &[u8], out: &mut Vec<u8>) {
    put_control(Opcode::Ping, payload, out);
}

/// Appends the pong that answers a ping with `payload`.
pub fn put_pong(payload: &[u8], out: &mut Vec<u8>) {
    put_control(Opcode::Pong, payload, out);
}

/// Appends a close frame. `code` is one that [`close::may_be_sent`], or [`close::NO_CODE`], which
/// makes a frame without code and reason. `reason` is cut to the 123 bytes there is room for.
pub fn put_close(code: u16, reason: &str, out: &mut Vec<u8>) {
    put_control(Opcode::Close, &close::payload(code, reason), out);
}

fn put_control(opcode: Opcode, payload: &[u8], out: &mut Vec<u8>) {
    debug_assert!(payload.len() <= 125, "a control frame has 125 bytes at most");
    out.extend_from_slice(FrameHead::new(opcode, false, payload.len()).as_bytes());
    out.extend_from_slice(payload);
}

/// Smaller messages gain less than they cost.
const LEAST_COMPRESSED: usize = 64;
