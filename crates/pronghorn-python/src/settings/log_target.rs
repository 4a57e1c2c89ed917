//! Where logs and StatsD metrics go, and what their lines say, as people write it.

use std::path::PathBuf;

use pronghorn_engine::{DatagramAddress, Format, LogTarget};

use super::Address;
use super::kind::{FilePath, Single};

impl Single for LogTarget {
    type Out = LogTarget;

    fn expects() -> String {
        "a path, -, syslog:, syslog:PATH or syslog:HOST:PORT".to_owned()
    }

    fn parse(text: &str) -> Result<LogTarget, String> {
        match text {
            "" => Err(format!("expected {}", Self::expects())),
            "-" => Ok(LogTarget::Stdout),
            _ if text.contains('\0') => Err("a path has no NUL in it".to_owned()),
            _ => match text.strip_prefix("syslog:") {
                Some(address) => syslog(address).map(LogTarget::Syslog),
                None => Ok(LogTarget::File(text.into())),
            },
        }
    }
}

fn syslog(address: &str) -> Result<DatagramAddress, String> {
    match address {
        "" => Ok(DatagramAddress::Unix("/dev/log".into())),
        _ if address.starts_with('/') => Ok(DatagramAddress::Unix(address.into())),
        _ => udp(Address::parse(address)?, address).ok_or_else(|| {
            format!("expected syslog:PATH or syslog:HOST:PORT, not syslog:{address}")
        }),
    }
}

/// The UDP port that `text` names, read as `address`: no port but a named one is meant.
fn udp(address: Address, text: &str) -> Option<DatagramAddress> {
    match address {
        Address::Tcp { host, port } if text.ends_with(&format!(":{port}")) => {
            Some(DatagramAddress::Udp(host, port))
        }
        _ => None,
    }
}

/// A file for messages, or `-` for standard error, which is none.
pub struct MessageLog;

impl Single for MessageLog {
    type Out = Option<PathBuf>;

    fn expects() -> String {
        "a path, or -".to_owned()
    }

    fn parse(text: &str) -> Result<Option<PathBuf>, String> {
        if text == "-" { Ok(None) } else { FilePath::parse(text).map(Some) }
    }
}

impl Single for DatagramAddress {
    type Out = DatagramAddress;

    fn expects() -> String {
        "HOST:PORT or unix:PATH".to_owned()
    }

    fn parse(text: &str) -> Result<DatagramAddress, String> {
        match Address::parse(text)? {
            Address::Unix(path) => Ok(DatagramAddress::Unix(path)),
            address => udp(address, text).ok_or_else(|| format!("expected {}", Self::expects())),
        }
    }
}

impl Single for Format {
    type Out = Format;

    fn expects() -> String {
        "common, combined, json, or a text such as %(h)s \"%(r)s\" %(s)s".to_owned()
    }

    fn parse(text: &str) -> Result<Format, String> {
        Format::parse(text).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_of_each_kind() {
        let udp = |host: &str, port| LogTarget::Syslog(DatagramAddress::Udp(host.to_owned(), port));
        let unix = |path: &str| LogTarget::Syslog(DatagramAddress::Unix(path.into()));
        for (text, target) in [
            ("-", LogTarget::Stdout),
            ("a.log", LogTarget::File("a.log".into())),
            ("/var/log/syslog:x", LogTarget::File("/var/log/syslog:x".into())),
            ("syslog:", unix("/dev/log")),
            ("syslog:/run/log", unix("/run/log")),
            ("syslog:localhost:514", udp("localhost", 514)),
            ("syslog:[::1]:514", udp("::1", 514)),
        ] {
            assert_eq!(LogTarget::parse(text), Ok(target), "{text}");
        }
        for text in ["", "a\0b", "syslog:localhost", "syslog:x y:1", "syslog:::1", "syslog:h:99999"]
        {
            assert!(LogTarget::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn statsd_addresses() {
        let udp = |host: &str, port| Ok(DatagramAddress::Udp(host.to_owned(), port));
        let unix = || Ok(DatagramAddress::Unix("/run/statsd".into()));
        assert_eq!(DatagramAddress::parse("localhost:8125"), udp("localhost", 8125));
        assert_eq!(DatagramAddress::parse("[::1]:8125"), udp("::1", 8125));
        assert_eq!(DatagramAddress::parse("unix:/run/statsd"), unix());
        assert_eq!(DatagramAddress::parse("unix:///run/statsd"), unix());
        for text in ["", "localhost", "fd://3", "8125"] {
            assert!(DatagramAddress::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_format_that_is_none_says_why() {
        assert!(<Format as Single>::parse("combined").is_ok());
        let reason = <Format as Single>::parse("%(z)s").expect_err("no atom");
        assert!(reason.starts_with("%(z)s is no atom."), "{reason}");
    }
}
