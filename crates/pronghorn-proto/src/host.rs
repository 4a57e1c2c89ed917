//! The grammar of Host and of the authority in a request target.

use core::net::Ipv6Addr;

use crate::charset::{self, Charset};
use crate::error::Error;

/// Checks `uri-host [":" port]` (RFC 9110 section 7.2), which may be empty.
///
/// Userinfo, and whatever could end a host early for another reader, is refused. So is a comma,
/// though RFC 3986 would let a registered name have one: it reads as two hosts.
pub fn check(authority: &[u8]) -> Result<(), Error> {
    let host_len = match authority {
        [b'[', ..] => ip_literal_len(authority).ok_or(Error::HostMalformed)?,
        _ => reg_name_len(authority),
    };
    match &authority[host_len..] {
        [] => Ok(()),
        [b':', port @ ..] if port.iter().all(u8::is_ascii_digit) => Ok(()),
        _ => Err(Error::HostMalformed),
    }
}

/// Splits an authority into host, brackets included, and what follows its colon, if there is one.
pub fn split(authority: &[u8]) -> (&[u8], Option<&[u8]>) {
    let colon = match authority {
        // Colons inside brackets belong to the address.
        [b'[', ..] => memchr::memchr(b']', authority).map(|bracket| bracket + 1),
        _ => authority.iter().position(|&byte| byte == b':'),
    };
    match colon.and_then(|at| authority.split_at_checked(at)) {
        Some((host, [b':', port @ ..])) => (host, Some(port)),
        _ => (authority, None),
    }
}

/// The length of the `reg-name` at the start (RFC 3986 section 3.2.2); an IPv4 address is one too.
fn reg_name_len(authority: &[u8]) -> usize {
    let mut len = 0;
    loop {
        let plain = authority[len..].iter().take_while(|&&byte| REG_NAME_BYTES[byte as usize]);
        len += plain.count();
        match authority[len..] {
            [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                len += 3;
            }
            _ => return len,
        }
    }
}

/// The length of the IPv6 address in brackets at the start. Zones are refused: they mean something
/// on one machine only.
fn ip_literal_len(authority: &[u8]) -> Option<usize> {
    let end = memchr::memchr(b']', authority)?;
    let address = str::from_utf8(&authority[1..end]).ok()?;
    address.parse::<Ipv6Addr>().ok().map(|_| end + 1)
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
