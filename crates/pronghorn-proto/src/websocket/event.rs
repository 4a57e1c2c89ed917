//! What a client says.

use std::borrow::Cow;

use super::close::Close;
use super::frame::Opcode;

/// One thing a client has said.
///
/// Payloads are borrowed from the bytes received if they came in one piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// A message of text, which is valid UTF-8.
    Text(Cow<'a, [u8]>),
    /// A message of bytes.
    Binary(Cow<'a, [u8]>),
    /// A ping, to be answered with a pong of the same payload.
    Ping(Cow<'a, [u8]>),
    /// A pong.
    Pong(Cow<'a, [u8]>),
    /// The client's last word. What it sends after that is dropped.
    Close(Close),
}

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text in UTF-8.
    Text,
    /// Bytes.
    Binary,
}

impl Kind {
    pub(super) fn opcode(self) -> Opcode {
        match self {
            Kind::Text => Opcode::Text,
            Kind::Binary => Opcode::Binary,
        }
    }

    pub(super) fn event(self, payload: Cow<'_, [u8]>) -> Event<'_> {
        match self {
            Kind::Text => Event::Text(payload),
            Kind::Binary => Event::Binary(payload),
        }
    }
}
