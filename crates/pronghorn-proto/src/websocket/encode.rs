//! Frames of the server (RFC 6455 section 5).
//!
//! Each message is one frame. One that is not compressed need not be built: [`head`] goes before
//! the message, which stays where it is.

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
        self.agreement_for(length).is_some()
    }

    fn agreement_for(&self, length: usize) -> Option<Agreement> {
        self.deflate.filter(|agreement| match agreement.server_takeover {
            true => length >= LEAST_WITH_CONTEXT,
            false => length >= LEAST_WITHOUT_CONTEXT,
        })
    }

    /// Appends a message to `out` as a frame, compressed if that is agreed and pays. What that takes
    /// is in `deflaters`.
    pub fn put(
        &mut self,
        kind: Kind,
        message: &[u8],
        deflaters: &mut Deflaters,
        out: &mut Vec<u8>,
    ) {
        if let Some(agreement) = self.agreement_for(message.len()) {
            let deflated = deflaters.deflate(&agreement, &mut self.deflater, message);
            // The client has to see what later messages refer to, even if it got larger.
            if agreement.server_takeover || deflated.len() < message.len() {
                return put_frame(kind.opcode(), true, deflated, out);
            }
        }
        put_frame(kind.opcode(), false, message, out);
    }
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

/// Appends a close frame. `code` is one that [`close::may_be_sent`], the client's own to echo, or
/// [`close::NO_CODE`], which makes a frame without code and reason. `reason` is cut to the 123 bytes
/// there is room for.
pub fn put_close(code: u16, reason: &str, out: &mut Vec<u8>) {
    put_control(Opcode::Close, &close::payload(code, reason), out);
}

fn put_control(opcode: Opcode, payload: &[u8], out: &mut Vec<u8>) {
    debug_assert!(payload.len() <= 125, "a control frame has 125 bytes at most");
    put_frame(opcode, false, payload, out);
}

fn put_frame(opcode: Opcode, compressed: bool, payload: &[u8], out: &mut Vec<u8>) {
    out.extend_from_slice(FrameHead::new(opcode, compressed, payload.len()).as_bytes());
    out.extend_from_slice(payload);
}

/// A message that cannot refer to others gains little below this, for tens of microseconds.
const LEAST_WITHOUT_CONTEXT: usize = 1024;

/// One that can may be said in a few bytes.
const LEAST_WITH_CONTEXT: usize = 64;
