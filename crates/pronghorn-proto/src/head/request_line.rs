//! The request line: `method SP request-target SP HTTP-version` (RFC 9112 section 3).

use core::ops::Range;

use crate::error::Error;
use crate::field;

/// A request method; names are case-sensitive (RFC 9110 section 9.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Method {
    /// GET.
    #[default]
    Get,
    /// HEAD.
    Head,
    /// POST.
    Post,
    /// PUT.
    Put,
    /// DELETE.
    Delete,
    /// OPTIONS.
    Options,
    /// PATCH.
    Patch,
    /// TRACE.
    Trace,
    /// CONNECT.
    Connect,
    /// Any other token; `RequestHead::method_span` has it.
    Other,
}

impl Method {
    /// The method named `name`.
    pub fn from_bytes(name: &[u8]) -> Method {
        match name {
            b"GET" => Method::Get,
            b"HEAD" => Method::Head,
            b"POST" => Method::Post,
            b"PUT" => Method::Put,
            b"DELETE" => Method::Delete,
            b"OPTIONS" => Method::Options,
            b"PATCH" => Method::Patch,
            b"TRACE" => Method::Trace,
            b"CONNECT" => Method::Connect,
            _ => Method::Other,
        }
    }
}

/// The version a request is read as.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Version {
    /// HTTP/1.0.
    Http10,
    /// HTTP/1.1, and any later HTTP/1.x (RFC 9110 section 2.5).
    #[default]
    Http11,
}

/// The parts of a request line, with where they are in its buffer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RequestLine {
    pub(super) method: Method,
    pub(super) method_range: Range<usize>,
    pub(super) target: Range<usize>,
    pub(super) version: Version,
}

/// Splits the line at `line` of `buf`, line end left out, at single spaces. A space in the target
/// is left to the check of the target.
pub(super) fn parse(buf: &[u8], line: Range<usize>) -> Result<RequestLine, Error> {
    let text = &buf[line.clone()];
    let version = version(text)?;
    let (method, method_len) = match text.starts_with(b"GET ") {
        true => (Method::Get, 3),
        false => method(text),
    };
    let method_end = line.start + method_len;
    let target = method_end + 1..line.end - VERSION_LEN;
    if method_len == 0 || buf[method_end] != b' ' || target.is_empty() {
        return Err(Error::RequestLine);
    }
    Ok(RequestLine { method, method_range: line.start..method_end, target, version })
}

/// The method at the start of `line`, and its length.
fn method(line: &[u8]) -> (Method, usize) {
    let len = line.iter().take_while(|&&byte| field::is_token_byte(byte)).count();
    (Method::from_bytes(&line[..len]), len)
}

/// A space and `HTTP/` DIGIT `.` DIGIT, in upper case (RFC 9112 section 2.3), at the end of `line`.
fn version(line: &[u8]) -> Result<Version, Error> {
    let end = line.last_chunk::<VERSION_LEN>().ok_or(Error::RequestLine)?;
    // Nearly every request is of this version, and whole it is compared as words.
    if end == b" HTTP/1.1" {
        return Ok(Version::Http11);
    }
    match end {
        b" HTTP/1.0" => Ok(Version::Http10),
        [b' ', b'H', b'T', b'T', b'P', b'/', b'1', b'.', b'1'..=b'9'] => Ok(Version::Http11),
        [b' ', b'H', b'T', b'T', b'P', b'/', b'0'..=b'9', b'.', b'0'..=b'9'] => Err(Error::Version),
        _ => Err(Error::RequestLine),
    }
}

/// Length of ` HTTP/1.1`.
const VERSION_LEN: usize = 9;

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(line: &str) -> Result<(&str, &str, Version), Error> {
        let parsed = parse(line.as_bytes(), 0..line.len())?;
        Ok((&line[parsed.method_range], &line[parsed.target], parsed.version))
    }

    #[test]
    fn lines_are_split_at_single_spaces() {
        assert_eq!(parts("GET / HTTP/1.1"), Ok(("GET", "/", Version::Http11)));
        assert_eq!(parts("A b HTTP/1.0"), Ok(("A", "b", Version::Http10)));
        assert_eq!(parts("A b HTTP/1.7"), Ok(("A", "b", Version::Http11)));
        assert_eq!(parts("A b c HTTP/1.1"), Ok(("A", "b c", Version::Http11)));
    }

    #[test]
    fn missing_parts_are_refused() {
        for line in [
            "",
            " ",
            "HTTP/1.1",
            " HTTP/1.1",
            "GET HTTP/1.1",
            "GET  HTTP/1.1",
            " / HTTP/1.1",
            "  HTTP/1.1",
        ] {
            assert_eq!(parts(line), Err(Error::RequestLine), "{line:?}");
        }
    }

    #[test]
    fn other_versions_are_refused() {
        for line in ["GET / HTTP/2.0", "GET / HTTP/0.9", "x HTTP/3.1"] {
            assert_eq!(parts(line), Err(Error::Version), "{line:?}");
        }
        for line in
            ["GET / http/1.1", "GET / HTTP/1.1 ", "GET / HTTP/11", "GET /HTTP/1.1", "G / HTTP/1.x"]
        {
            assert_eq!(parts(line), Err(Error::RequestLine), "{line:?}");
        }
    }
}
