//! What a head says about its connection: persistence, expectations and upgrades.

use crate::error::Error;
use crate::field::{self, Field, Known};
use crate::head::Method;

/// What the members of Connection ask for.
#[derive(Clone, Copy, Default)]
pub(super) struct Options {
    pub(super) close: bool,
    pub(super) keep_alive: bool,
    pub(super) upgrade: bool,
}

/// Reads every member of every Connection line, whatever its case (RFC 9110 section 7.6.1).
pub(super) fn options(fields: &[Field], buf: &[u8]) -> Options {
    let mut options = Options::default();
    for value in field::values(fields, buf, Known::Connection) {
        for member in field::members(value) {
            // Their lengths tell them apart.
            match member.len() {
                5 => options.close |= is(member, b"close"),
                7 => options.upgrade |= is(member, b"upgrade"),
                10 => options.keep_alive |= is(member, b"keep-alive"),
                _ => {}
            }
        }
    }
    options
}

/// Whether `member` is `lower` in any case; the usual case is compared as words.
#[inline]
fn is<const N: usize>(member: &[u8], lower: &[u8; N]) -> bool {
    member == lower || member.eq_ignore_ascii_case(lower)
}

/// Whether `100-continue` is expected; any other expectation is refused (RFC 9110 section 10.1.1).
pub(super) fn expects_continue(fields: &[Field], buf: &[u8]) -> Result<bool, Error> {
    let mut expected = false;
    for value in field::values(fields, buf, Known::Expect) {
        for member in field::members(value).filter(|member| !member.is_empty()) {
            if !member.eq_ignore_ascii_case(b"100-continue") {
                return Err(Error::Expectation);
            }
            expected = true;
        }
    }
    Ok(expected)
}

/// Refuses a WebSocket handshake of another version than 13 (RFC 6455 section 4.4). Called for an
/// offered upgrade only.
pub(super) fn check_websocket(method: Method, fields: &[Field], buf: &[u8]) -> Result<(), Error> {
    let mut protocols = field::values(fields, buf, Known::Upgrade).flat_map(field::members);
    let mut versions = field::values(fields, buf, Known::SecWebsocketVersion);
    let handshake =
        method == Method::Get && protocols.any(|name| name.eq_ignore_ascii_case(b"websocket"));
    match handshake && versions.any(|version| version != b"13") {
        true => Err(Error::WebSocketVersion),
        false => Ok(()),
    }
}
