//! The opening handshake (RFC 6455 section 4.2).

mod answer;
mod extensions;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use sha1::{Digest, Sha1};

use super::deflate::{Agreement, NAME, Options};
use crate::error::Error;
use crate::field::{self, Known};
use crate::framing::Framing;
use crate::head::{Method, RequestHead};

/// A handshake that may be accepted, and what the answer says of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handshake {
    /// The value of Sec-WebSocket-Accept.
    accept: [u8; ACCEPT],
    /// What is agreed of compression.
    pub deflate: Option<Agreement>,
}

impl Handshake {
    /// Reads the handshake in a `head` that was interpreted; `buf` is the buffer it is in.
    /// Compression is agreed on as `deflate` says; `None` declines it.
    ///
    /// `None` is a request that does not open a WebSocket: its method is not GET, it is HTTP/1.0, or
    /// it does not ask for an upgrade, or for another one.
    ///
    /// # Errors
    /// A handshake that is wrong is refused, as its client would not understand another answer.
    pub fn read(
        head: &RequestHead,
        buf: &[u8],
        deflate: Option<&Options>,
    ) -> Result<Option<Handshake>, Error> {
        let mut protocols = head.values(buf, Known::Upgrade).flat_map(field::members);
        let asked = head.upgrade
            && head.method == Method::Get
            && protocols.any(|name| name.eq_ignore_ascii_case(b"websocket"));
        if !asked {
            return Ok(None);
        }
        if !matches!(head.framing, Framing::None | Framing::Length(0)) {
            return Err(Error::WebSocketBody);
        }
        if only(head, buf, Known::SecWebsocketVersion) != Some(b"13") {
            return Err(Error::WebSocketVersion);
        }
        let accept = accept(only(head, buf, Known::SecWebsocketKey))?;
        if !subprotocols(head, buf).all(field::is_token) {
            return Err(Error::WebSocketProtocol);
        }
        Ok(Some(Handshake { accept, deflate: negotiate(head, buf, deflate)? }))
    }
}

/// The subprotocols a client offers, in order of preference. `buf` is the buffer `head` is in.
pub fn subprotocols<'a>(head: &'a RequestHead, buf: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
    let values = head.values(buf, Known::SecWebsocketProtocol);
    values.flat_map(field::members).filter(|member| !member.is_empty())
}

/// The value of the field named `known`, if there is exactly one.
fn only<'a>(head: &'a RequestHead, buf: &'a [u8], known: Known) -> Option<&'a [u8]> {
    let mut values = head.values(buf, known);
    values.next().filter(|_| values.next().is_none())
}

/// What answers `key`, which is 16 bytes in base64 (section 4.2.2).
fn accept(key: Option<&[u8]>) -> Result<[u8; ACCEPT], Error> {
    let key = key.filter(|key| is_key(key)).ok_or(Error::WebSocketKey)?;
    let digest = Sha1::new().chain_update(key).chain_update(GUID).finalize();
    let mut accept = [0; ACCEPT];
    let written = BASE64_STANDARD.encode_slice(digest, &mut accept);
    debug_assert_eq!(written, Ok(ACCEPT));
    Ok(accept)
}

/// Bits beyond the 16 bytes are let through: nobody reads them, and clients that make up the text
/// of a key set them.
fn is_key(key: &[u8]) -> bool {
    let is_digit = |&byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    key.len() == 24 && key.strip_suffix(b"==").is_some_and(|digits| digits.iter().all(is_digit))
}

/// Accepts the first offer of permessage-deflate that can be; others are passed over.
fn negotiate(
    head: &RequestHead,
    buf: &[u8],
    deflate: Option<&Options>,
) -> Result<Option<Agreement>, Error> {
    let mut agreement = None;
    for value in head.values(buf, Known::SecWebsocketExtensions) {
        for offer in extensions::parse(value)? {
            if let Some(options) = deflate.filter(|_| offer.name == NAME && agreement.is_none()) {
                agreement = Agreement::accept(offer.params.into_iter(), options);
            }
        }
    }
    Ok(agreement)
}

/// Twenty bytes in base64.
const ACCEPT: usize = 28;

const GUID: &[u8] = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

#[cfg(test)]
mod tests;
