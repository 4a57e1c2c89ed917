//! What trusted proxies say of one request.
//!
//! Each proxy adds the address it was connected from at the right, so the walk begins there: as long as who wrote an address is trusted,
//! the address counts.

use pronghorn_proto::field::Known;
pub use pronghorn_proto::forwarded::Scheme;
use pronghorn_proto::forwarded::{Element, Node, elements, members, mount_point, port};
use pronghorn_proto::head::RequestHead;
use pronghorn_proto::host;

use super::{Client, ForwardedHeader, Proxies};
use crate::address::Peer;

/// For whom a request is made and how it was sent, as far as that is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forwarded<'a> {
    /// For whom.
    pub client: Client,
    /// The scheme the client used.
    pub scheme: Option<Scheme>,
    /// The host it asked for, which is valid and not empty.
    pub host: Option<&'a [u8]>,
    /// The port it asked at.
    pub port: Option<u16>,
    /// The path at which it finds the application, without a slash at its end.
    pub mount_point: Option<&'a [u8]>,
}

impl Proxies {
    /// What is to be believed of the complete `head`, which is in `bytes` and came from `peer`.
    pub fn forwarded<'a>(&self, head: &RequestHead, bytes: &'a [u8], peer: Peer) -> Forwarded<'a> {
        let request = Request { head, bytes };
        match self.header {
            _ if !head.is_forwarded() || !self.trusts(peer) => Forwarded::nothing(peer),
            ForwardedHeader::XForwarded => self.x_forwarded(request, peer),
            ForwardedHeader::Forwarded => self.rfc_7239(request, peer),
        }
    }

    /// For whom the request with the complete `head` is made.
    pub fn client(&self, head: &RequestHead, bytes: &[u8], peer: Peer) -> Client {
        self.forwarded(head, bytes, peer).client
    }

    /// Of every field but X-Forwarded-For the right-most member counts: the nearest proxy has written or passed it.
    fn x_forwarded<'a>(&self, request: Request<'_, 'a>, peer: Peer) -> Forwarded<'a> {
        let believed = &self.believed;
        let said = |known, believed: bool| believed.then(|| request.last_member(known)).flatten();
        let host = said(Known::XForwardedHost, believed.host).filter(|host| is_host(host));
        let own_port = said(Known::XForwardedPort, believed.port).and_then(port);
        Forwarded {
            client: self.walk(request, peer),
            scheme: said(Known::XForwardedProto, believed.scheme).and_then(Scheme::parse),
            host,
            port: own_port.or_else(|| port_of(host)),
            mount_point: said(Known::XForwardedPrefix, believed.prefix).and_then(mount_point),
        }
    }

    fn walk(&self, request: Request<'_, '_>, peer: Peer) -> Client {
        let mut client = Client::from(peer);
        if self.believed.client {
            let nodes = request.lines(Known::XForwardedFor).flat_map(members);
            for (hops, node) in nodes.map_while(Node::parse).enumerate() {
                client = node.into();
                if !self.trusts_hop(node.ip, hops + 1) {
                    break;
                }
            }
        }
        client
    }

    /// What the last proxy that is to be believed says counts, and that only: an element belongs together.
    fn rfc_7239<'a>(&self, request: Request<'_, 'a>, peer: Peer) -> Forwarded<'a> {
        let mut client = Client::from(peer);
        let mut last = Element::default();
        let elements = request.lines(Known::Forwarded).flat_map(elements);
        for (hops, element) in elements.map_while(|element| element).enumerate() {
            last = element;
            let node = element.node.filter(|_| self.believed.client).and_then(Node::parse);
            client = node.map_or(client, Client::from);
            if !node.is_some_and(|node| self.trusts_hop(node.ip, hops + 1)) {
                break;
            }
        }
        let host = last.host.filter(|host| self.believed.host && is_host(host));
        Forwarded {
            client,
            scheme: last.scheme.filter(|_| self.believed.scheme).and_then(Scheme::parse),
            host,
            port: port_of(host),
            mount_point: None,
        }
    }
}

impl Forwarded<'_> {
    fn nothing(peer: Peer) -> Self {
        Forwarded { client: peer.into(), scheme: None, host: None, port: None, mount_point: None }
    }
}

/// A head and the bytes its spans are offsets of.
#[derive(Clone, Copy)]
struct Request<'h, 'a> {
    head: &'h RequestHead,
    bytes: &'a [u8],
}

impl<'h, 'a> Request<'h, 'a> {
    /// The values of a field, the last line first.
    fn lines(self, known: Known) -> impl Iterator<Item = &'a [u8]> + 'h
    where
        'a: 'h,
    {
        let fields = self.head.fields.iter().rev();
        fields
            .filter(move |field| field.known == Some(known))
            .map(move |field| field.value.of(self.bytes))
    }

    /// The right-most member of a field; empty if that is.
    fn last_member(self, known: Known) -> Option<&'a [u8]> {
        self.lines(known).flat_map(members).next()
    }
}

fn is_host(host: &[u8]) -> bool {
    !host::split(host).0.is_empty() && host::check(host).is_ok()
}

fn port_of(host: Option<&[u8]>) -> Option<u16> {
    host::split(host?).1.and_then(port)
}

#[cfg(test)]
mod tests;
