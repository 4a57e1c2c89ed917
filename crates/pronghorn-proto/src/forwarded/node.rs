//! One end of a hop, as proxies write it.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::unquoted;

/// An address, with its port if that was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Node {
    /// The address; one of IPv4 mapped into IPv6 as what it is.
    pub ip: IpAddr,
    /// The port.
    pub port: Option<u16>,
}

impl Node {
    /// Reads an address: IPv4 or IPv6, with a port or without, IPv6 with a port in brackets, in quotes or not. `None` for anything else:
    /// a name, `unknown`, an identifier such as `_hidden` (RFC 7239 section 6).
    pub fn parse(text: &[u8]) -> Option<Node> {
        let text = unquoted(text);
        let text = str::from_utf8(text).ok().filter(|text| text.len() <= LONGEST)?;
        let (ip, port) = match text.strip_prefix('[') {
            Some(rest) => bracketed(rest)?,
            None => plain(text)?,
        };
        Some(Node { ip: ip.to_canonical(), port })
    }
}

fn bracketed(rest: &str) -> Option<(IpAddr, Option<u16>)> {
    let (address, rest) = rest.split_once(']')?;
    let address = address.parse::<Ipv6Addr>().ok()?;
    let port = match rest {
        "" => None,
        _ => port(rest.strip_prefix(':')?)?,
    };
    Some((address.into(), port))
}

fn plain(text: &str) -> Option<(IpAddr, Option<u16>)> {
    if let Ok(address) = text.parse::<IpAddr>() {
        return Some((address, None));
    }
    let (address, rest) = text.split_once(':')?;
    Some((address.parse::<Ipv4Addr>().ok()?.into(), port(rest)?))
}

/// A port, or none where it is hidden behind an identifier.
fn port(text: &str) -> Option<Option<u16>> {
    match text.strip_prefix('_') {
        Some(name) => is_identifier(name).then_some(None),
        None => super::port(text.as_bytes()).map(Some),
    }
}

fn is_identifier(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
}

/// More than any address with its port takes.
const LONGEST: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_with_and_without_ports() {
        for (text, ip, port) in [
            ("192.0.2.1", "192.0.2.1", None),
            ("192.0.2.1:80", "192.0.2.1", Some(80)),
            ("2001:db8::1", "2001:db8::1", None),
            ("[2001:DB8::1]", "2001:db8::1", None),
            ("[2001:db8::1]:4711", "2001:db8::1", Some(4711)),
            ("\"[2001:db8::1]:4711\"", "2001:db8::1", Some(4711)),
            ("\"192.0.2.1\"", "192.0.2.1", None),
            ("192.0.2.1:_gaz.0nk", "192.0.2.1", None),
            ("::ffff:192.0.2.1", "192.0.2.1", None),
            ("[::ffff:192.0.2.1]:1", "192.0.2.1", Some(1)),
        ] {
            let ip = ip.parse().expect("an address");
            assert_eq!(Node::parse(text.as_bytes()), Some(Node { ip, port }), "{text}");
        }
    }

    #[test]
    fn anything_else_is_garbage() {
        for text in [
            "",
            "\"",
            "\"\"",
            "unknown",
            "_hidden",
            "localhost",
            "192.0.2",
            "192.0.2.256",
            "192.0.2.01",
            "192.0.2.1:",
            "192.0.2.1:0",
            "192.0.2.1:65536",
            "192.0.2.1:80:80",
            "192.0.2.1 ",
            "192.0.2.1:_",
            "192.0.2.1:_a b",
            "[::1",
            "::1]",
            "[::1]80",
            "[::1]:",
            "[192.0.2.1]:80",
            "[fe80::1%eth0]",
            "fe80::1%eth0",
            "1.2.3.4, 5.6.7.8",
            "unix:",
            "0x7f.1",
            "2130706433",
            "\"192.0.2.1",
            "192.0.2.1\"",
            "1\u{b2}.0.0.1",
        ] {
            assert_eq!(Node::parse(text.as_bytes()), None, "{text}");
        }
    }
}
