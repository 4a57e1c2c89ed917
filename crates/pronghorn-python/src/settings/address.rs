//! What `--bind` takes.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::PathBuf;

/// Where to listen, as given to `--bind`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    /// `host:port` or `[v6]:port`. The host may be a name, which the resolver is asked for when listening starts.
    Tcp {
        /// An address or a name, without brackets.
        host: String,
        /// 0 lets the kernel choose.
        port: u16,
    },
    /// `unix:PATH`.
    Unix(PathBuf),
    /// `fd://N`: a socket that is listening already.
    Fd(u32),
    /// An address that is for the metrics alone: that of `--metrics`.
    Metrics(Box<Address>),
}

impl Address {
    /// The port when an address names none, as gunicorn and uvicorn have it.
    pub const DEFAULT_PORT: u16 = 8000;

    /// Reads `host:port`, `host`, `:port` (every IPv4 interface), `[v6]:port`, `unix:PATH` or `fd://N`.
    ///
    /// # Errors
    /// Says what is wrong with the text and what to write.
    pub fn parse(text: &str) -> Result<Self, String> {
        if let Some(path) = text.strip_prefix("unix:") {
            return unix(path);
        }
        if let Some(number) = text.strip_prefix("fd://") {
            let number = number
                .parse()
                .map_err(|_| format!("expected a number after fd://, not {number:?}"))?;
            return Ok(Self::Fd(number));
        }
        if let Some(rest) = text.strip_prefix("http://").or_else(|| text.strip_prefix("https://")) {
            return Err(format!("an address has no scheme: write {}", rest.trim_end_matches('/')));
        }
        tcp(text)
    }

    /// Reads what an address is shown as.
    pub fn from_shown(text: &str) -> Option<Self> {
        match text.strip_prefix(METRICS) {
            Some(address) => Self::parse(address).ok().map(|address| Self::Metrics(address.into())),
            None => Self::parse(text).ok(),
        }
    }

    /// The number of the socket that somebody else has opened, if it is one.
    pub fn descriptor(&self) -> Option<u32> {
        match self {
            Self::Fd(number) => Some(*number),
            Self::Metrics(address) => address.descriptor(),
            Self::Tcp { .. } | Self::Unix(_) => None,
        }
    }
}

fn unix(path: &str) -> Result<Address, String> {
    // Both unix:/run/x and unix:///run/x are in use for the same path.
    let path = path.strip_prefix("//").unwrap_or(path);
    match path {
        "" => Err("expected a path after unix:".to_owned()),
        // sun_path holds 108 bytes with the NUL that ends it, unix(7).
        _ if path.len() > 107 => {
            Err(format!("a socket's path has at most 107 bytes, this one has {}", path.len()))
        }
        _ => Ok(Address::Unix(path.into())),
    }
}

fn tcp(text: &str) -> Result<Address, String> {
    if text.parse::<u16>().is_ok() {
        return Err(format!("a port needs a colon: write :{text} or 127.0.0.1:{text}"));
    }
    let (host, port) = split_port(text)?;
    let port = match port {
        None => Address::DEFAULT_PORT,
        Some(port) => port_number(port)?,
    };
    let host = match host {
        "" => Ipv4Addr::UNSPECIFIED.to_string(),
        _ => host.to_owned(),
    };
    Ok(Address::Tcp { host, port })
}

/// Host without brackets and, if there is one, the port's text.
fn split_port(text: &str) -> Result<(&str, Option<&str>), String> {
    if let Some(inner) = text.strip_prefix('[') {
        return split_bracketed(inner);
    }
    if text.parse::<Ipv6Addr>().is_ok() {
        return Err(format!(
            "an IPv6 address needs brackets: write [{text}]:{}",
            Address::DEFAULT_PORT
        ));
    }
    let (host, port) = match text.rsplit_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (text, None),
    };
    match host {
        _ if text.is_empty() => Err(EXPECTED.to_owned()),
        _ if host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b)) => {
            Ok((host, port))
        }
        _ => Err(EXPECTED.to_owned()),
    }
}

fn split_bracketed(inner: &str) -> Result<(&str, Option<&str>), String> {
    let (host, rest) =
        inner.split_once(']').ok_or("the bracket is not closed: write [::1]:8000")?;
    let address = host.split_once('%').map_or(host, |(address, _zone)| address);
    address.parse::<Ipv6Addr>().map_err(|_| format!("{host:?} is no IPv6 address"))?;
    match rest.strip_prefix(':') {
        Some(port) => Ok((host, Some(port))),
        None if rest.is_empty() => Ok((host, None)),
        None => Err(EXPECTED.to_owned()),
    }
}

fn port_number(text: &str) -> Result<u16, String> {
    let digits = text.bytes().all(|b| b.is_ascii_digit());
    match text.parse() {
        Ok(port) if digits => Ok(port),
        _ => Err(format!("{text:?} is no port: expected a number from 0 to 65535")),
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(f, "[{host}]:{port}"),
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Fd(number) => write!(f, "fd://{number}"),
            Self::Metrics(address) => write!(f, "{METRICS}{address}"),
        }
    }
}

impl Address {
    /// A TCP address from `--host` and `--port`, whose host has no brackets and no port.
    ///
    /// # Errors
    /// Says what is wrong with the host.
    pub(super) fn from_host(host: &str, port: u16) -> Result<Self, String> {
        if host.parse::<IpAddr>().is_ok() {
            return Ok(Self::Tcp { host: host.to_owned(), port });
        }
        match split_port(host)? {
            (host, None) if !host.is_empty() => Ok(Self::Tcp { host: host.to_owned(), port }),
            _ => Err(format!("expected a host alone: write --bind {host}")),
        }
    }
}

/// What the address of the metrics is shown with.
const METRICS: &str = "metrics:";

const EXPECTED: &str = "expected HOST:PORT, [IPV6]:PORT, :PORT, unix:PATH or fd://N";

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(host: &str, port: u16) -> Address {
        Address::Tcp { host: host.to_owned(), port }
    }

    #[test]
    fn every_form() {
        for (text, address) in [
            ("127.0.0.1:80", tcp("127.0.0.1", 80)),
            ("localhost", tcp("localhost", 8000)),
            (":9000", tcp("0.0.0.0", 9000)),
            ("0.0.0.0:0", tcp("0.0.0.0", 0)),
            ("[::1]:81", tcp("::1", 81)),
            ("[::]", tcp("::", 8000)),
            ("[fe80::1%eth0]:80", tcp("fe80::1%eth0", 80)),
            ("unix:/run/p.sock", Address::Unix("/run/p.sock".into())),
            ("unix:///run/p.sock", Address::Unix("/run/p.sock".into())),
            ("unix:p.sock", Address::Unix("p.sock".into())),
            ("fd://3", Address::Fd(3)),
        ] {
            assert_eq!(Address::parse(text), Ok(address), "{text}");
        }
    }

    #[test]
    fn mistakes_say_what_to_write() {
        for (text, reason) in [
            ("", EXPECTED),
            ("a b:80", EXPECTED),
            ("[::1]80", EXPECTED),
            ("localhost:http", "\"http\" is no port: expected a number from 0 to 65535"),
            ("localhost:65536", "\"65536\" is no port: expected a number from 0 to 65535"),
            ("localhost:+80", "\"+80\" is no port: expected a number from 0 to 65535"),
            ("8000", "a port needs a colon: write :8000 or 127.0.0.1:8000"),
            ("localhost:", "\"\" is no port: expected a number from 0 to 65535"),
            ("::1", "an IPv6 address needs brackets: write [::1]:8000"),
            ("[::1", "the bracket is not closed: write [::1]:8000"),
            ("[localhost]:80", "\"localhost\" is no IPv6 address"),
            ("http://localhost:80/", "an address has no scheme: write localhost:80"),
            ("unix:", "expected a path after unix:"),
            ("fd://x", "expected a number after fd://, not \"x\""),
        ] {
            assert_eq!(Address::parse(text), Err(reason.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_unix_path_is_as_long_as_the_kernel_takes() {
        let path = "p".repeat(107);
        assert!(Address::parse(&format!("unix:{path}")).is_ok());
        let reason = Address::parse(&format!("unix:{path}p")).expect_err("too long");
        assert_eq!(reason, "a socket's path has at most 107 bytes, this one has 108");
    }

    #[test]
    fn shown_it_reads_the_same() {
        for text in ["127.0.0.1:80", "[::1]:81", "unix:/run/p.sock", "fd://3"] {
            assert_eq!(
                Address::parse(text).map(|address| address.to_string()),
                Ok(text.to_owned())
            );
        }
    }

    #[test]
    fn the_address_of_the_metrics_is_told_from_others_and_may_be_a_socket_of_somebody_else() {
        for (text, descriptor) in
            [("metrics:127.0.0.1:80", None), ("metrics:fd://4", Some(4)), ("fd://3", Some(3))]
        {
            let address = Address::from_shown(text).expect("an address");
            assert_eq!((address.to_string().as_str(), address.descriptor()), (text, descriptor));
        }
        assert_eq!(Address::from_shown("metrics:"), None);
    }

    #[test]
    fn a_host_alone() {
        assert_eq!(Address::from_host("::1", 1), Ok(tcp("::1", 1)));
        assert_eq!(Address::from_host("localhost", 1), Ok(tcp("localhost", 1)));
        assert_eq!(
            Address::from_host("localhost:80", 1),
            Err("expected a host alone: write --bind localhost:80".to_owned())
        );
    }
}
