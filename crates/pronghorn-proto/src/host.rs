//! The grammar of Host and of the authority in a request target.

use core::net::Ipv6Addr;

use crate::charset::{self, Charset};
use crate::error::Error;
use crate::word;

/// Checks `uri-host [":" port]` (RFC 9110 section 7.2), which may be empty.
///
/// Userinfo, and whatever could end a host early for another reader, is refused. So is a comma,
/// though RFC 3986 would let a registered name have one: it reads as two hosts.
pub fn check(authority: &[u8]) -> Result<(), Error> {
    let (host, port) = split(authority);
    let valid = match host {
        [b'[', ..] => is_ip_literal(host),
        _ => is_reg_name(host),
    };
    match valid && port.is_none_or(|port| port.iter().all(u8::is_ascii_digit)) {
        true => Ok(()),
        false => Err(Error::HostMalformed),
    }
}

/// Splits an authority into host, brackets included, and what follows its colon, if there is one.
pub fn split(authority: &[u8]) -> (&[u8], Option<&[u8]>) {
    let colon = match authority {
        // Colons inside brackets belong to the address.
        [b'[', ..] => memchr::memchr(b']', authority).map(|bracket| bracket + 1),
        _ => word::position(authority, b':'),
    };
    match colon.and_then(|at| authority.split_at_checked(at)) {
        Some((host, [b':', port @ ..])) => (host, Some(port)),
        _ => (authority, None),
    }
}

/// Whether `host` is a `reg-name` (RFC 3986 section 3.2.2); an IPv4 address is one too.
fn is_reg_name(host: &[u8]) -> bool {
    // Without an early exit it takes the compiler fewer instructions.
    host.iter().fold(true, |all, &byte| all & REG_NAME_BYTES[byte as usize]) || is_encoded(host)
}

/// Whether `host` is a `reg-name` in which bytes are percent-encoded.
#[cold]
fn is_encoded(host: &[u8]) -> bool {
    let mut parts = host.split(|&byte| byte == b'%');
    let is_plain = |part: &[u8]| part.iter().all(|&byte| REG_NAME_BYTES[byte as usize]);
    parts.next().is_some_and(is_plain)
        && parts.all(|part| match part {
            [high, low, rest @ ..] => {
                high.is_ascii_hexdigit() && low.is_ascii_hexdigit() && is_plain(rest)
            }
            _ => false,
        })
}

/// Whether `host` is an IPv6 address in brackets. Zones are refused: they mean something on one
/// machine only.
fn is_ip_literal(host: &[u8]) -> bool {
    let address = host.strip_prefix(b"[").and_then(|rest| rest.strip_suffix(b"]"));
    let address = address.and_then(|address| str::from_utf8(address).ok());
    address.is_some_and(|address| address.parse::<Ipv6Addr>().is_ok())
}

/// Unreserved bytes, and sub-delims without the comma.
static REG_NAME_BYTES: Charset = charset::alphanumeric_and(b"-._~!$&'()*+;=");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_ports() {
        for good in [
            "",
            "a",
            "a:",
            "a:80",
            "example.com",
            "127.0.0.1:8000",
            "[::1]",
            "[::1]:80",
            "a_b-c.d",
            "a%20b",
            "[::ffff:1.2.3.4]",
            "xn--caf-dma.fr",
        ] {
            assert_eq!(check(good.as_bytes()), Ok(()), "{good}");
        }
        for bad in [
            "a/b",
            "a?b",
            "a#b",
            "u@a",
            "a b",
            "a,b",
            "a:b",
            "a:80:80",
            "a:-1",
            "a:+1",
            "[::1",
            "::1",
            "[::1]x",
            "[::1]:x",
            "[]",
            "[1.2.3.4]",
            "[fe80::1%25eth0]",
            "a%2",
            "a%zz",
            "a\\b",
            "a\"b",
            "a<b",
            "a[b]",
            "caf\u{e9}",
            "a]",
            "[v1.a]",
            "a:8 0",
        ] {
            assert_eq!(check(bad.as_bytes()), Err(Error::HostMalformed), "{bad}");
        }
    }

    #[test]
    fn ports_are_split_off_outside_brackets() {
        assert_eq!(split(b"a:80"), (&b"a"[..], Some(&b"80"[..])));
        assert_eq!(split(b"[::1]:80"), (&b"[::1]"[..], Some(&b"80"[..])));
        assert_eq!(split(b"[::1]"), (&b"[::1]"[..], None));
        assert_eq!(split(b"a:"), (&b"a"[..], Some(&b""[..])));
    }
}
