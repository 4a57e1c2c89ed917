//! For whom a request is made, and who is believed about that.

mod forwarded;
mod peers;

pub use forwarded::{Forwarded, Scheme};
pub use peers::{Network, Peers};

use std::net::IpAddr;

use pronghorn_proto::field::Known;
use pronghorn_proto::forwarded::{Node, is_x_forwarded};
use pronghorn_proto::proxy::Versions;

use crate::address::Peer;

/// For whom a request is made: the connection's peer, or whom trusted proxies name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Client {
    /// Its address; `None` for a peer on a Unix socket.
    pub ip: Option<IpAddr>,
    /// Its port, where it is known.
    pub port: Option<u16>,
}

/// What is in front of the server, and what of its words counts. The default trusts proxies on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxies {
    /// Who is believed.
    pub trusted: Trusted,
    /// Where they say it.
    pub header: ForwardedHeader,
    /// What of it is believed.
    pub believed: Believed,
    /// The versions of the PROXY protocol that connections have to begin with; `None` if it is not in use.
    pub protocol: Option<Versions>,
    /// The peers that speak it; connections of others begin with a request.
    pub protocol_peers: Peers,
}

/// Which proxies are believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trusted {
    /// Those with these addresses.
    Peers(Peers),
    /// So many in front, whatever their addresses; the connection's peer is the first of them.
    Count(usize),
}

/// The fields by which proxies say for whom a request is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForwardedHeader {
    /// X-Forwarded-For and its family.
    XForwarded,
    /// Forwarded (RFC 7239).
    Forwarded,
}

/// What of the words of trusted proxies is believed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Believed {
    /// The client's address.
    pub client: bool,
    /// The scheme it used.
    pub scheme: bool,
    /// The host it asked for.
    pub host: bool,
    /// The port it asked at.
    pub port: bool,
    /// The path the application is mounted at.
    pub prefix: bool,
    /// Other fields of the X-Forwarded-* family, in lower case, that the application gets as they are.
    pub others: Vec<String>,
}

impl Proxies {
    /// Whether the application may see a field of this name; those that are of no proxy it always may.
    pub fn shows(&self, peer: Peer, known: Known) -> bool {
        let of = |header, believed| self.header == header && believed && self.trusts(peer);
        let family = |believed| of(ForwardedHeader::XForwarded, believed);
        let believed = &self.believed;
        match known {
            Known::Forwarded => of(ForwardedHeader::Forwarded, true),
            Known::XForwardedFor => family(believed.client),
            Known::XForwardedProto => family(believed.scheme),
            Known::XForwardedHost => family(believed.host),
            Known::XForwardedPort => family(believed.port),
            Known::XForwardedPrefix => family(believed.prefix),
            Known::XForwardedServer => self.shows_name(peer, known.name().as_bytes()),
            Known::XRealIp => self.believed.client && self.trusts(peer),
            _ => true,
        }
    }

    /// As [`shows`](Proxies::shows), for a name outside the table of known ones.
    pub fn shows_name(&self, peer: Peer, name: &[u8]) -> bool {
        let is_name = |other: &String| name.eq_ignore_ascii_case(other.as_bytes());
        !is_x_forwarded(name)
            || self.header == ForwardedHeader::XForwarded
                && self.believed.others.iter().any(is_name)
                && self.trusts(peer)
    }

    /// Whether connections of `peer` have to begin with a header of the PROXY protocol.
    pub(crate) fn announces(&self, peer: Peer) -> bool {
        self.protocol.is_some() && self.protocol_peers.contains(peer)
    }

    /// Whether the peer of a connection is believed.
    pub(crate) fn trusts(&self, peer: Peer) -> bool {
        match &self.trusted {
            Trusted::Peers(peers) => peers.contains(peer),
            Trusted::Count(_) => true,
        }
    }

    /// Whether the proxy that is `hops` before the connection's peer is believed.
    fn trusts_hop(&self, ip: IpAddr, hops: usize) -> bool {
        match &self.trusted {
            Trusted::Peers(peers) => peers.has(ip),
            Trusted::Count(count) => hops < *count,
        }
    }
}

impl Default for Proxies {
    fn default() -> Self {
        Proxies {
            trusted: Trusted::Peers(Peers::local()),
            header: ForwardedHeader::XForwarded,
            believed: Believed { client: true, scheme: true, ..Believed::default() },
            protocol: None,
            protocol_peers: Peers::local(),
        }
    }
}

impl From<Peer> for Client {
    fn from(peer: Peer) -> Self {
        match peer {
            Peer::Inet(address) => {
                Client { ip: Some(address.ip().to_canonical()), port: Some(address.port()) }
            }
            Peer::Unix => Client { ip: None, port: None },
        }
    }
}

impl From<Node> for Client {
    fn from(node: Node) -> Self {
        Client { ip: Some(node.ip), port: node.port }
    }
}
