//! Finding the end of a head, line by line, as its bytes arrive.

use crate::error::Error;
use crate::field;
use crate::head::request_line;
use crate::limits::Limits;

/// Looks for the end of one request head and never reads a byte twice.
///
/// Sizes, line ends and the version are checked as soon as they can be, so that a head which can
/// only be refused is not waited for. Each head needs a fresh scanner.
#[derive(Clone, Copy, Debug, Default)]
pub struct HeadScanner {
    /// Bytes already searched for line ends.
    scanned: usize,
    /// Where the line being received begins.
    line: usize,
    part: Part,
}

/// What the line being received is.
#[derive(Clone, Copy, Debug, Default)]
enum Part {
    /// The request line, or an empty line before it.
    #[default]
    Start,
    RequestLine,
    /// A field line, or the empty line that ends the head. Fields begin at `start`, `count` are
    /// complete.
    Fields {
        start: usize,
        count: usize,
    },
}

impl HeadScanner {
    /// Goes on with `buf`: all bytes received so far, from the first of this head on.
    ///
    /// Gives `Some(n)` once the head is complete: it is `buf[..n]`, from an empty line before it
    /// (one is skipped, RFC 9112 section 2.2) to the empty line that ends it. Errors are final,
    /// and the same however the bytes were cut.
    pub fn advance(&mut self, buf: &[u8], limits: &Limits) -> Result<Option<usize>, Error> {
        loop {
            self.check_first_byte(buf)?;
            let Some(at) = memchr::memchr(b'\n', &buf[self.scanned..]) else {
                self.scanned = buf.len();
                self.check_length(&buf[self.line..], limits)?;
                return Ok(None);
            };
            let end = self.scanned + at;
            let complete = self.end_line(&buf[self.line..end], end + 1, limits)?;
            if complete {
                return Ok(Some(end + 1));
            }
            self.scanned = end + 1;
            self.line = end + 1;
        }
    }

    /// A request line begins with a token, so one byte tells a TLS handshake apart.
    fn check_first_byte(&self, buf: &[u8]) -> Result<(), Error> {
        match (self.part, buf.get(self.line)) {
            (Part::Fields { .. }, _) | (_, None) => Ok(()),
            (Part::Start, Some(b'\r' | b'\n')) => Ok(()),
            (_, Some(&byte)) if field::is_token_byte(byte) => Ok(()),
            _ => Err(Error::NotHttp),
        }
    }

    /// Takes a `line` up to its LF, after which `next` begins; true if it was the last of the head.
    ///
    /// The order of the checks is the order in which they could have failed byte by byte.
    fn end_line(&mut self, line: &[u8], next: usize, limits: &Limits) -> Result<bool, Error> {
        self.check_length(line, limits)?;
        let line = line.strip_suffix(b"\r").ok_or(Error::BareLineEnd)?;
        match &mut self.part {
            Part::Start if line.is_empty() => self.part = Part::RequestLine,
            Part::Start | Part::RequestLine => {
                request_line::check_version(line)?;
                self.part = Part::Fields { start: next, count: 0 };
            }
            Part::Fields { .. } if line.is_empty() => return Ok(true),
            Part::Fields { count, .. } => {
                *count += 1;
                if *count > limits.field_count.min(Limits::MAX_FIELD_COUNT) {
                    return Err(Error::TooManyFields);
                }
            }
        }
        Ok(false)
    }

    /// Checks the length of a line whose LF is still to come; a CR at its end may belong to that.
    fn check_length(&self, line: &[u8], limits: &Limits) -> Result<(), Error> {
        let (bound, error) = self.bound(limits);
        let length = line.len() - usize::from(line.ends_with(b"\r"));
        if length > bound { Err(error) } else { Ok(()) }
    }

    /// How long the current line may be, and what it is called when it is longer.
    fn bound(&self, limits: &Limits) -> (usize, Error) {
        let Part::Fields { start, .. } = self.part else {
            return (limits.request_line, Error::RequestLineTooLong);
        };
        let room = (start + limits.fields).saturating_sub(self.line + CRLF.len());
        match limits.field <= room {
            true => (limits.field, Error::FieldTooLarge),
            false => (room, Error::FieldsTooLarge),
        }
    }
}

const CRLF: &[u8] = b"\r\n";
