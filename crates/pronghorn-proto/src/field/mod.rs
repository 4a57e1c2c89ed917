//! Field lines: names, list members, and the table of known names.

mod known;

pub use known::Known;
pub(crate) use known::KnownSet;

use crate::charset::{self, Charset};
use crate::span::Span;

/// One field line of a head, as offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name as sent.
    pub name: Span,
    /// The value without white space around it; bytes 0x80-0xFF are kept as they are.
    pub value: Span,
    /// Which known name it is, if one.
    pub known: Option<Known>,
}

/// The values of the `fields` of one name, in order of arrival. `buf` is what they were parsed from.
pub fn values<'a>(
    fields: &'a [Field],
    buf: &'a [u8],
    known: Known,
) -> impl Iterator<Item = &'a [u8]> {
    fields.iter().filter(move |f| f.known == Some(known)).map(move |f| f.value.of(buf))
}

/// The members of a comma-separated list (RFC 9110 section 5.6.1) without white space around them.
/// Empty members are given too: some lists may have them, others not.
pub fn members(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|&b| b == b',').map(trim)
}

/// `bytes` without spaces and tabs at its ends (OWS and BWS, RFC 9110 section 5.6.3).
#[inline]
pub fn trim(bytes: &[u8]) -> &[u8] {
    // Nothing, or one space in front, is what nearly everyone sends.
    match bytes {
        [b' ', rest @ ..] | rest => match rest {
            [first, .., last] if *first > b' ' && *last > b' ' => rest,
            _ => trim_ends(rest),
        },
    }
}

fn trim_ends(mut bytes: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = bytes {
        bytes = rest;
    }
    bytes
}

/// Whether `bytes` is a token (RFC 9110 section 5.6.2).
pub fn is_token(bytes: &[u8]) -> bool {
    !bytes.is_empty() && bytes.iter().all(|&b| is_token_byte(b))
}

/// Whether `byte` may occur in a token.
#[inline]
pub fn is_token_byte(byte: u8) -> bool {
    TOKEN_BYTES[byte as usize]
}

/// Whether `byte` may occur in a field value: tab, space, visible ASCII or obs-text
/// (RFC 9110 section 5.5).
#[inline]
pub fn is_value_byte(byte: u8) -> bool {
    matches!(byte, b'\t' | b' '..=b'~' | 0x80..)
}

static TOKEN_BYTES: Charset = charset::alphanumeric_and(b"!#$%&'*+-.^_`|~");
