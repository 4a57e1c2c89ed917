//! Sets of peers by their addresses.

use std::net::IpAddr;

use crate::address::Peer;

/// Peers that are trusted with something.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Peers {
    /// Those with an address in one of these.
    pub networks: Vec<Network>,
    /// Those on Unix sockets.
    pub unix: bool,
    /// All there are.
    pub everyone: bool,
}

/// The addresses that begin with the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    first: IpAddr,
    length: u8,
}

impl Peers {
    /// The loopback addresses and Unix sockets.
    pub fn local() -> Peers {
        let loopback = |ip: IpAddr| Network::new(ip, if ip.is_ipv4() { 32 } else { 128 });
        Peers {
            networks: vec![
                loopback(std::net::Ipv4Addr::LOCALHOST.into()),
                loopback(std::net::Ipv6Addr::LOCALHOST.into()),
            ],
            unix: true,
            everyone: false,
        }
    }

    /// Whether `peer` is one of them.
    pub fn contains(&self, peer: Peer) -> bool {
        match peer {
            Peer::Inet(address) => self.has(address.ip()),
            Peer::Unix => self.everyone || self.unix,
        }
    }

    pub(super) fn has(&self, ip: IpAddr) -> bool {
        self.everyone || self.networks.iter().any(|network| network.contains(ip))
    }
}

impl Network {
    /// The network of `ip` whose addresses have the first `length` bits in common, at most as many as an address has. A network of IPv4
    /// addresses mapped into IPv6 is one of IPv4.
    pub fn new(ip: IpAddr, length: u8) -> Network {
        match (ip, ip.to_canonical()) {
            (IpAddr::V6(_), v4 @ IpAddr::V4(_)) if length >= 96 => {
                Network { first: masked(v4, length - 96), length: length - 96 }
            }
            _ => Network { first: masked(ip, length), length },
        }
    }

    /// The first address: the one whose bits beyond the common ones are 0.
    pub fn first(&self) -> IpAddr {
        self.first
    }

    /// Whether `ip` is in it. An address of IPv4 mapped into IPv6 is one of IPv4.
    pub fn contains(&self, ip: IpAddr) -> bool {
        let ip = ip.to_canonical();
        ip.is_ipv4() == self.first.is_ipv4() && masked(ip, self.length) == self.first
    }
}

fn masked(ip: IpAddr, length: u8) -> IpAddr {
    match ip {
        IpAddr::V4(ip) => {
            let mask = u32::MAX.checked_shl(32_u32.saturating_sub(length.into())).unwrap_or(0);
            IpAddr::V4((ip.to_bits() & mask).into())
        }
        IpAddr::V6(ip) => {
            let mask = u128::MAX.checked_shl(128_u32.saturating_sub(length.into())).unwrap_or(0);
            IpAddr::V6((ip.to_bits() & mask).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn networks_hold_what_begins_alike() {
        for (network, length, inside, outside) in [
            ("10.0.0.0", 8, "10.255.1.2", "11.0.0.0"),
            ("192.0.2.1", 32, "192.0.2.1", "192.0.2.2"),
            ("192.0.2.128", 25, "192.0.2.200", "192.0.2.127"),
            ("0.0.0.0", 0, "255.255.255.255", "::1"),
            ("2001:db8::", 32, "2001:db8:ffff::1", "2001:db9::"),
            ("::1", 128, "::1", "::2"),
            ("::", 0, "2001:db8::1", "192.0.2.1"),
            ("::ffff:10.0.0.0", 104, "10.1.2.3", "11.0.0.0"),
            ("10.0.0.0", 8, "::ffff:10.1.2.3", "::ffff:11.0.0.0"),
        ] {
            let network = Network::new(ip(network), length);
            assert!(network.contains(ip(inside)), "{inside} in {network:?}");
            assert!(!network.contains(ip(outside)), "{outside} in {network:?}");
        }
        assert_eq!(Network::new(ip("10.1.2.3"), 8).first(), ip("10.0.0.0"));
    }

    #[test]
    fn peers_are_of_this_machine_by_default() {
        let local = Peers::local();
        let peer = |text: &str| Peer::Inet(SocketAddr::new(ip(text), 1));
        for text in ["127.0.0.1", "::1", "::ffff:127.0.0.1"] {
            assert!(local.contains(peer(text)), "{text}");
        }
        assert!(local.contains(Peer::Unix));
        assert!(!local.contains(peer("127.0.0.2")));
        assert!(!Peers::default().contains(Peer::Unix));
        let all = Peers { everyone: true, ..Peers::default() };
        assert!(all.contains(peer("192.0.2.1")) && all.contains(Peer::Unix));
    }
}
