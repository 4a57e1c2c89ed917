//! Every way a client can break the protocol after the handshake, and the one mapping to a close
//! code.

use core::fmt;

/// Why a WebSocket fails. Final: no later byte of its connection is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// A reserved bit is set that no extension has given a meaning for this frame.
    ReservedBits,
    /// An opcode without a meaning.
    Opcode,
    /// A frame that is not masked.
    Unmasked,
    /// A length that is not in its shortest form, or beyond 63 bits.
    Length,
    /// A control frame that is a fragment.
    ControlFragmented,
    /// A control frame with more than 125 bytes.
    ControlTooLong,
    /// A continuation of no message.
    Continuation,
    /// A message that begins before the one under way has ended.
    Interrupted,
    /// A close frame of one byte, or with a code that may not be sent.
    CloseCode,
    /// Text, or the reason of a close, that is not UTF-8.
    Utf8,
    /// Compressed data that cannot be inflated.
    Compression,
    /// A message in too many frames without a byte in them.
    EmptyFrames,
    /// A message that is larger than [`Limits::message`](super::Limits::message).
    MessageTooLarge,
}

impl Fault {
    /// The code of the close frame that answers it (RFC 6455 section 7.4.1).
    pub fn code(self) -> u16 {
        use Fault::*;
        match self {
            ReservedBits | Opcode | Unmasked | Length => 1002,
            ControlFragmented | ControlTooLong | Continuation | Interrupted | CloseCode => 1002,
            Utf8 | Compression => 1007,
            EmptyFrames => 1008,
            MessageTooLarge => 1009,
        }
    }

    /// What was wrong, for the log and the reason of the close frame: at most 123 bytes.
    pub fn message(self) -> &'static str {
        use Fault::*;
        match self {
            ReservedBits => "a reserved bit is set that was not negotiated",
            Opcode => "the opcode of a frame is unknown",
            Unmasked => "a frame of a client is not masked",
            Length => "the length of a frame is not in its shortest form",
            ControlFragmented => "a control frame is a fragment",
            ControlTooLong => "a control frame is longer than 125 bytes",
            Continuation => "a frame continues no message",
            Interrupted => "a message begins before the one before it has ended",
            CloseCode => "the code of a close frame is invalid",
            Utf8 => "text is not valid UTF-8",
            Compression => "compressed data is corrupt",
            EmptyFrames => "a message has too many empty frames",
            MessageTooLarge => "a message is larger than this server accepts",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl std::error::Error for Fault {}
