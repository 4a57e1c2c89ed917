//! Peers that are trusted with something, as people write them.

use std::net::IpAddr;

use pronghorn_engine::{Network, Peers};

use super::kind::Single;

/// Peers: addresses, networks, `unix` and `*`, with commas between. An empty text, which no variable can have, is nobody too.
pub struct PeerList;

impl Single for PeerList {
    type Out = Peers;

    fn expects() -> String {
        "addresses, networks such as 10.0.0.0/8, unix or *, with commas between, or none".to_owned()
    }

    fn parse(text: &str) -> Result<Peers, String> {
        let mut peers = Peers::default();
        if matches!(text, "" | "none") {
            return Ok(peers);
        }
        for entry in text.split(',').map(str::trim) {
            match entry {
                "*" => peers.everyone = true,
                "unix" => peers.unix = true,
                _ => peers.networks.push(network(entry)?),
            }
        }
        Ok(peers)
    }
}

fn network(text: &str) -> Result<Network, String> {
    let (address, length) = match text.split_once('/') {
        Some((address, length)) => (address, Some(length)),
        None => (text, None),
    };
    let address: IpAddr = address.parse().map_err(|_| no_address(text))?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let length = match length {
        None => most,
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits
            .parse()
            .ok()
            .filter(|length| *length <= most)
            .ok_or_else(|| no_length(text, most))?,
        Some(_) => return Err(no_length(text, most)),
    };
    let network = Network::new(address, length);
    match network.contains(address) && network.first() != address.to_canonical() {
        true => Err(format!("{text} is within {}/{length}: write that", network.first())),
        false => Ok(network),
    }
}

fn no_address(text: &str) -> String {
    match text {
        "" => "there is nothing between two commas".to_owned(),
        _ if text.starts_with('[') => format!("{text} has brackets: write the address without"),
        _ => format!("{text:?} is no address: expected {}", PeerList::expects()),
    }
}

fn no_length(text: &str, most: u8) -> String {
    format!("{text:?} is no network: expected 0 to {most} behind the slash")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn peers_as_people_write_them() {
        assert_eq!(PeerList::parse("127.0.0.1,::1,unix"), Ok(Peers::local()));
        assert_eq!(PeerList::parse(""), Ok(Peers::default()));
        assert_eq!(PeerList::parse("none"), Ok(Peers::default()));
        let all = Peers { everyone: true, ..Peers::default() };
        assert_eq!(PeerList::parse("*"), Ok(all));
        let networks = vec![
            Network::new(ip("10.0.0.0"), 8),
            Network::new(ip("2001:db8::"), 32),
            Network::new(ip("192.0.2.1"), 32),
        ];
        let expected = Peers { networks, ..Peers::default() };
        for text in [
            "10.0.0.0/8,2001:db8::/32,192.0.2.1",
            " ::ffff:10.0.0.0/104, 2001:db8::/32 ,192.0.2.1/32",
        ] {
            assert_eq!(PeerList::parse(text).as_ref(), Ok(&expected), "{text}");
        }
    }

    #[test]
    fn mistakes_in_peers_say_what_to_write() {
        for (text, part) in [
            ("localhost", "\"localhost\" is no address: expected addresses, networks"),
            ("10.0.0.1/8", "10.0.0.1/8 is within 10.0.0.0/8: write that"),
            ("10.0.0.0/33", "\"10.0.0.0/33\" is no network: expected 0 to 32 behind the slash"),
            ("::/129", "expected 0 to 128 behind the slash"),
            ("10.0.0.0/255.0.0.0", "expected 0 to 32 behind the slash"),
            ("10.0.0.0/", "expected 0 to 32 behind the slash"),
            ("10.0.0.0/+8", "expected 0 to 32 behind the slash"),
            ("127.0.0.1,,::1", "there is nothing between two commas"),
            ("[::1]", "[::1] has brackets: write the address without"),
            ("10.0.0.256", "is no address"),
            ("127.0.0.1:80", "is no address"),
            ("127.0.0.1,none", "\"none\" is no address"),
        ] {
            let reason = PeerList::parse(text).expect_err(text);
            assert!(reason.contains(part), "{text}: {reason}");
        }
    }
}
