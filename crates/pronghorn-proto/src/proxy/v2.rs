//! Version 2: 12 bytes of signature, version and command, family and protocol, a length, and as many bytes of addresses and extensions.

use core::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use super::{Announcement, agrees};
use crate::error::Error;

/// Reads the header at the start of `bytes`. Extensions (TLV) are skipped.
pub(super) fn parse(bytes: &[u8]) -> Result<Option<Announcement>, Error> {
    if !agrees(bytes, SIGNATURE) {
        return Err(Error::ProxyHeader);
    }
    let Some((fixed, rest)) = bytes.split_first_chunk::<FIXED>() else { return Ok(None) };
    let &[.., command, family, high, low] = fixed;
    let length = usize::from(u16::from_be_bytes([high, low]));
    if FIXED + length > LONGEST {
        return Err(Error::ProxyHeader);
    }
    let Some(payload) = rest.get(..length) else { return Ok(None) };
    let source = match command {
        LOCAL => None,
        PROXY => source(family, payload)?,
        _ => return Err(Error::ProxyHeader),
    };
    Ok(Some(Announcement { length: FIXED + length, source }))
}

fn source(family: u8, payload: &[u8]) -> Result<Option<SocketAddr>, Error> {
    let address = match family {
        0x00 => return Ok(None),
        // A stream or datagrams (QUIC, on the balancer's other side) over IPv4: both addresses, both ports.
        0x11 | 0x12 => payload.first_chunk::<12>().map(|&[a, b, c, d, .., high, low, _, _]| {
            let port = u16::from_be_bytes([high, low]);
            SocketAddr::from((Ipv4Addr::new(a, b, c, d), port))
        }),
        // The same over IPv6.
        0x21 | 0x22 => payload.first_chunk::<36>().and_then(|parts| {
            let &[.., high, low, _, _] = parts;
            let address = Ipv6Addr::from(*parts.first_chunk::<16>()?);
            Some(SocketAddr::from((address, u16::from_be_bytes([high, low]))))
        }),
        // Unix sockets, which tell nothing of a client.
        0x31 | 0x32 if payload.len() >= 216 => return Ok(None),
        _ => None,
    };
    address.map(Some).ok_or(Error::ProxyHeader)
}

const SIGNATURE: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";

/// Version 2 and the command.
const LOCAL: u8 = 0x20;
const PROXY: u8 = 0x21;

/// What comes before the addresses.
const FIXED: usize = 16;

/// Nobody sends longer ones; more is not waited for.
pub(super) const LONGEST: usize = 4 << 10;
