//! Version 1: `PROXY TCP4 source destination port port` and a CRLF.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::{Announcement, agrees};
use crate::error::Error;
use crate::word;

/// Reads the line at the start of `bytes`.
pub(super) fn parse(bytes: &[u8]) -> Result<Option<Announcement>, Error> {
    if !agrees(bytes, SIGNATURE) {
        return Err(Error::ProxyHeader);
    }
    let within = &bytes[..bytes.len().min(LONGEST)];
    let Some(end) = word::position(within, b'\n') else {
        return if within.len() < LONGEST { Ok(None) } else { Err(Error::ProxyHeader) };
    };
    let line = within[..end].strip_suffix(b"\r").and_then(|line| line.strip_prefix(SIGNATURE));
    let source = line.and_then(source).ok_or(Error::ProxyHeader)?;
    Ok(Some(Announcement { length: end + 1, source }))
}

/// The client; `Some(None)` where the balancer does not know it, whatever follows that word.
fn source(line: &[u8]) -> Option<Option<SocketAddr>> {
    if line == b"UNKNOWN" || line.starts_with(b"UNKNOWN ") {
        return Some(None);
    }
    let mut parts = str::from_utf8(line).ok()?.split(' ');
    let mut next = || parts.next();
    let (family, source, destination) = (next()?, next()?, next()?);
    let (port, destination_port) = (next()?, next()?);
    let (source, _) = match family {
        "TCP4" => (v4(source)?, v4(destination)?),
        "TCP6" => (v6(source)?, v6(destination)?),
        _ => return None,
    };
    let (port, _) = (self::port(port)?, self::port(destination_port)?);
    next().is_none().then_some(Some(SocketAddr::new(source, port)))
}

fn v4(text: &str) -> Option<IpAddr> {
    text.parse::<Ipv4Addr>().ok().map(IpAddr::V4)
}

fn v6(text: &str) -> Option<IpAddr> {
    text.parse::<Ipv6Addr>().ok().map(IpAddr::V6)
}

/// A number from 0 to 65535 without leading zeros.
fn port(text: &str) -> Option<u16> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit());
    let is_padded = text.len() > 1 && text.starts_with('0');
    text.parse().ok().filter(|_| is_plain && !is_padded)
}

const SIGNATURE: &[u8] = b"PROXY ";

/// The longest line there can be, with its CRLF.
pub(super) const LONGEST: usize = 107;
