//! The PROXY protocol: what a load balancer sends before the first byte of its client, to say who that is. Versions 1 and 2.

mod v1;
mod v2;

use core::net::SocketAddr;

use crate::error::Error;

/// Which versions may be spoken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Versions {
    /// 1 or 2.
    Either,
    /// 1 only: a line of text.
    V1,
    /// 2 only: binary.
    V2,
}

/// A complete header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Announcement {
    /// How many bytes it takes.
    pub length: usize,
    /// The client; `None` if the connection is the balancer's own (LOCAL), or it does not tell (UNKNOWN, UNSPEC, a Unix socket).
    pub source: Option<SocketAddr>,
}

/// Reads the header at the start of `bytes`, what has come of a connection so far. `None`: more of it is to come.
///
/// # Errors
/// [`Error::ProxyHeader`]: it does not begin with a header of these versions, or with a malformed one. No further byte changes that.
pub fn parse(bytes: &[u8], versions: Versions) -> Result<Option<Announcement>, Error> {
    match (bytes.first(), versions) {
        (None, _) => Ok(None),
        (Some(b'P'), Versions::Either | Versions::V1) => v1::parse(bytes),
        (Some(b'\r'), Versions::Either | Versions::V2) => v2::parse(bytes),
        _ => Err(Error::ProxyHeader),
    }
}

/// Whether `bytes` may still become a text that begins with `signature`, or does so.
fn agrees(bytes: &[u8], signature: &[u8]) -> bool {
    let length = bytes.len().min(signature.len());
    bytes[..length] == signature[..length]
}

#[cfg(test)]
mod tests;
