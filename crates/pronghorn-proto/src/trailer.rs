//! The trailer section after the last chunk (RFC 9112 section 7.1.2).

use crate::error::Error;
use crate::field::{self, Known};

/// Checks trailer lines as strictly as field lines, byte by byte, and forgets them.
///
/// Trailers are never merged into the head (RFC 9110 section 6.5.1), so nothing of them is kept
/// but the start of the name being read.
#[derive(Clone, Debug)]
pub(crate) struct TrailerParser {
    part: Part,
    /// Bytes of trailer lines that may still come.
    left: usize,
    name: [u8; NAME_LEN],
    /// Length of the name being read, which may exceed what `name` holds.
    name_len: usize,
}

/// What the next byte belongs to.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// The start of a line: a name, or the CR of the empty line.
    Start,
    Name,
    Value,
    /// The LF of a trailer line.
    Lf,
    /// The LF of the empty line that ends the section.
    LastLf,
}

impl TrailerParser {
    /// A parser that lets `limit` bytes of trailer lines through.
    pub(crate) fn new(limit: usize) -> TrailerParser {
        TrailerParser { part: Part::Start, left: limit, name: [0; NAME_LEN], name_len: 0 }
    }

    /// Takes the next byte; true if it ended the section.
    pub(crate) fn step(&mut self, byte: u8) -> Result<bool, Error> {
        match (self.part, byte) {
            (Part::LastLf, b'\n') => return Ok(true),
            (Part::Start, b'\r') => {
                self.part = Part::LastLf;
                return Ok(false);
            }
            (Part::LastLf, _) => return Err(Error::BareLineEnd),
            _ => {}
        }
        self.left = self.left.checked_sub(1).ok_or(Error::TrailersTooLarge)?;
        self.part = self.line_byte(byte)?;
        Ok(false)
    }

    /// The part after `byte` of a trailer line.
    fn line_byte(&mut self, byte: u8) -> Result<Part, Error> {
        match (self.part, byte) {
            (Part::Start | Part::Name, byte) if field::is_token_byte(byte) => {
                self.push_name(byte);
                Ok(Part::Name)
            }
            (Part::Name, b':') => self.end_name(),
            (Part::Value, b'\r') => Ok(Part::Lf),
            (Part::Value, byte) if field::is_value_byte(byte) => Ok(Part::Value),
            (Part::Lf, b'\n') => Ok(Part::Start),
            _ => Err(Error::Trailer),
        }
    }

    fn push_name(&mut self, byte: u8) {
        if let Some(place) = self.name.get_mut(self.name_len) {
            *place = byte;
        }
        self.name_len += 1;
    }

    fn end_name(&mut self) -> Result<Part, Error> {
        let length = core::mem::take(&mut self.name_len);
        let known = self.name.get(..length).and_then(Known::lookup);
        match known.is_some_and(is_forbidden) {
            true => Err(Error::TrailerForbidden),
            false => Ok(Part::Value),
        }
    }
}

/// Whether a field would change framing, routing or the connection, and so has no business among
/// trailers (RFC 9110 section 6.5.1).
fn is_forbidden(known: Known) -> bool {
    matches!(
        known,
        Known::ContentLength
            | Known::TransferEncoding
            | Known::Host
            | Known::Connection
            | Known::ProxyConnection
            | Known::KeepAlive
            | Known::Te
            | Known::Trailer
            | Known::Upgrade
            | Known::Expect
            | Known::ContentEncoding
            | Known::ContentType
            | Known::ContentRange
            | Known::Authorization
            | Known::Cookie
    )
}

/// Longer than every forbidden name.
const NAME_LEN: usize = 24;
