//! How long the body of a request is (RFC 9112 section 6.3).

use crate::error::Error;
use crate::field::{self, Field, Known};
use crate::head::Version;

/// What delimits the body of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framing {
    /// There is no body.
    #[default]
    None,
    /// The body has this many bytes.
    Length(u64),
    /// The body comes in chunks (RFC 9112 section 7.1).
    Chunked,
}

/// Decides the framing from the `fields` of a head parsed from `buf`.
///
/// The only code that reads Content-Length and Transfer-Encoding. Anything another recipient could
/// read differently is an error, because two readings of one request are how requests are smuggled
/// (RFC 9112 section 11.2).
pub fn decide(version: Version, fields: &[Field], buf: &[u8]) -> Result<Framing, Error> {
    let length = content_length(fields, buf)?;
    let chunked = transfer_encoding(fields, buf);
    match (length, chunked) {
        (None, None) => Ok(Framing::None),
        // Section 6.1: both together, or any coding from an HTTP/1.0 client, is faulty framing.
        (Some(_), Some(_)) => Err(Error::FramingConflict),
        (None, Some(_)) if version == Version::Http10 => Err(Error::TransferEncodingInHttp10),
        (None, Some(coding)) => coding.map(|()| Framing::Chunked),
        (Some(length), None) => Ok(Framing::Length(length)),
    }
}

/// The one value of Content-Length. It may be repeated, in lines or as a list, if all are equal
/// (RFC 9110 section 8.6).
fn content_length(fields: &[Field], buf: &[u8]) -> Result<Option<u64>, Error> {
    let mut length = None;
    for value in field::values(fields, buf, Known::ContentLength) {
        for member in field::members(value) {
            let this = decimal(member)?;
            if length.is_some_and(|earlier| earlier != this) {
                return Err(Error::ContentLength);
            }
            length = Some(this);
        }
    }
    Ok(length)
}

/// Digits and nothing else; 19 of them always fit.
fn decimal(digits: &[u8]) -> Result<u64, Error> {
    if !(1..=19).contains(&digits.len()) || !digits.iter().all(u8::is_ascii_digit) {
        return Err(Error::ContentLength);
    }
    Ok(digits.iter().fold(0, |value, digit| value * 10 + u64::from(digit - b'0')))
}

/// `None` without the field; `Ok` if `chunked` is all there is.
fn transfer_encoding(fields: &[Field], buf: &[u8]) -> Option<Result<(), Error>> {
    let mut lines = field::values(fields, buf, Known::TransferEncoding).peekable();
    lines.peek()?;
    let mut seen = Seen::default();
    let mut codings = lines.flat_map(field::members).map(transfer_coding);
    Some(codings.try_for_each(|coding| seen.add(coding?)).and_then(|()| seen.finish()))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Coding {
    Chunked,
    Other,
}

/// One member of Transfer-Encoding: a token with parameters, of which `chunked` has none
/// (RFC 9112 section 7). Empty members are refused: they have no use but to hide.
fn transfer_coding(member: &[u8]) -> Result<Coding, Error> {
    let name = field::trim(member.split(|&b| b == b';').next().unwrap_or_default());
    if !field::is_token(name) {
        return Err(Error::TransferEncoding);
    }
    match name.eq_ignore_ascii_case(b"chunked") {
        true if name.len() < member.len() => Err(Error::TransferEncoding),
        true => Ok(Coding::Chunked),
        false => Ok(Coding::Other),
    }
}

/// The codings met so far: `chunked` has to be the last, and the only one this server undoes.
#[derive(Default)]
struct Seen {
    chunked: bool,
    other: bool,
}

impl Seen {
    fn add(&mut self, coding: Coding) -> Result<(), Error> {
        if self.chunked {
            return Err(Error::TransferEncoding);
        }
        self.chunked = coding == Coding::Chunked;
        self.other |= coding == Coding::Other;
        Ok(())
    }

    fn finish(&self) -> Result<(), Error> {
        if self.other { Err(Error::TransferCoding) } else { Ok(()) }
    }
}
