//! Reading a head line by line, as its bytes arrive.

use crate::error::Error;
use crate::field;
use crate::head::RequestHead;
use crate::limits::Limits;
use crate::word;

/// Finds the end of one request head and never searches a byte twice: a line is read into a
/// [`RequestHead`] once all of it is there.
///
/// What can only be refused is refused as soon as its bytes are there. Each head needs a fresh
/// scanner.
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
    /// A field line, or the empty line that ends the head. Fields begin at `start`.
    Fields {
        start: usize,
    },
}

impl HeadScanner {
    /// Goes on with `buf`: all bytes received so far, from the first of this head on.
    ///
    /// Gives `Some(n)` once the head is complete: it is `buf[..n]`, from an empty line before it
    /// (one is skipped, RFC 9112 section 2.2) to the empty line that ends it. Its lines are then in
    /// `head`, which is the same from call to call, for [`RequestHead::interpret`] to make sense of.
    ///
    /// Errors are final, and the same however the bytes were cut. After one, a `head` that was clear
    /// has the lines before the faulty one.
    pub fn advance(
        &mut self,
        buf: &[u8],
        limits: &Limits,
        head: &mut RequestHead,
    ) -> Result<Option<usize>, Error> {
        loop {
            if let Part::Fields { start } = self.part {
                return self.read_fields(buf, start, limits, head);
            }
            if !self.read_start(buf, limits, head)? {
                return Ok(None);
            }
        }
    }

    /// Reads the request line, or an empty line before it; false if it is not all there.
    fn read_start(
        &mut self,
        buf: &[u8],
        limits: &Limits,
        head: &mut RequestHead,
    ) -> Result<bool, Error> {
        self.check_first_byte(buf)?;
        let stop = word::control_position(buf, self.scanned);
        if stop - self.line > limits.request_line {
            return Err(Error::RequestLineTooLong);
        }
        if !is_line_end(buf, stop, Error::RequestLine)? {
            self.scanned = stop;
            return Ok(false);
        }
        let next = stop + CRLF.len();
        self.part = match self.part {
            Part::Start if stop == self.line => Part::RequestLine,
            _ => {
                head.read_request_line(buf, self.line..stop)?;
                Part::Fields { start: next }
            }
        };
        (self.line, self.scanned) = (next, next);
        Ok(true)
    }

    /// A request line begins with a token, so one byte tells a TLS handshake apart.
    fn check_first_byte(&self, buf: &[u8]) -> Result<(), Error> {
        match (self.part, buf.get(self.line)) {
            (_, None) | (Part::Start, Some(b'\r' | b'\n')) => Ok(()),
            (_, Some(&byte)) if field::is_token_byte(byte) => Ok(()),
            _ => Err(Error::NotHttp),
        }
    }

    /// Reads field lines up to the empty one, after which the head is complete.
    fn read_fields(
        &mut self,
        buf: &[u8],
        start: usize,
        limits: &Limits,
        head: &mut RequestHead,
    ) -> Result<Option<usize>, Error> {
        let end = start + limits.fields;
        loop {
            let stop = word::control_position(buf, self.scanned);
            let length = stop - self.line;
            if length > limits.field || length > 0 && stop + CRLF.len() > end {
                return Err(too_large(limits.field, end.saturating_sub(self.line + CRLF.len())));
            }
            if !is_line_end(buf, stop, Error::Field)? {
                self.scanned = stop;
                return Ok(None);
            }
            let next = stop + CRLF.len();
            if stop == self.line {
                return Ok(Some(next));
            }
            if head.fields.len() >= limits.field_count {
                return Err(Error::TooManyFields);
            }
            head.read_field(buf, self.line..stop)?;
            (self.line, self.scanned) = (next, next);
        }
    }
}

/// Whether a CRLF is at `stop`, where the text of a line stops; false if that is still to be seen.
/// Control bytes other than these are an error: `other`.
#[inline]
fn is_line_end(buf: &[u8], stop: usize, other: Error) -> Result<bool, Error> {
    match &buf[stop..] {
        rest if rest.starts_with(CRLF) => Ok(true),
        [] | [b'\r'] => Ok(false),
        [b'\r' | b'\n', ..] => Err(Error::BareLineEnd),
        _ => Err(other),
    }
}

/// What a line is called that is longer than one `field` may be, or than the `room` left for all.
#[cold]
fn too_large(field: usize, room: usize) -> Error {
    if field <= room { Error::FieldTooLarge } else { Error::FieldsTooLarge }
}

const CRLF: &[u8] = b"\r\n";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::head::Method;

    fn advance(bytes: &[u8], head: &mut RequestHead) -> Result<Option<usize>, Error> {
        HeadScanner::default().advance(bytes, &Limits::default(), head)
    }

    #[test]
    fn what_can_only_be_refused_is_not_waited_for() {
        let table: [(&[u8], Error); 12] = [
            (b"\x16\x03", Error::NotHttp),
            (b"\r\n\r", Error::NotHttp),
            (b"GET /\n", Error::BareLineEnd),
            (b"GET /\rX", Error::BareLineEnd),
            (b"GET /\0", Error::RequestLine),
            (b"GET /#a HTTP/1.1\r\n", Error::Target),
            (b"GET /\ta HTTP/1.1\r\n", Error::Target),
            (b"GET / HTTP/2.0\r\n", Error::Version),
            (b"GET / HTTP/1.1\r\nA: b\rc", Error::BareLineEnd),
            (b"GET / HTTP/1.1\r\nA: b\x7F", Error::Field),
            (b"GET / HTTP/1.1\r\nA b\r\n", Error::Field),
            (b"GET / HTTP/1.1\r\n: b\r\n", Error::Field),
        ];
        for (bytes, error) in table {
            let outcome = advance(bytes, &mut RequestHead::default());
            assert_eq!(outcome, Err(error), "{}", bytes.escape_ascii());
            let before = advance(&bytes[..bytes.len() - 1], &mut RequestHead::default());
            assert!(before == Ok(None) || bytes[0] == 0x16, "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn lines_before_a_faulty_one_are_kept() {
        let mut head = RequestHead::default();
        let outcome = advance(b"HEAD / HTTP/1.1\r\nA: b\r\nC d\r\n", &mut head);
        assert_eq!(outcome, Err(Error::Field));
        assert_eq!((head.method, head.fields.len()), (Method::Head, 1));
    }
}
