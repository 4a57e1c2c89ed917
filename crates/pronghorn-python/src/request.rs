//! A request's head, as both interfaces read it.

use std::net::SocketAddr;

use pronghorn_proto::{field::Known, head::RequestHead, target::Form};

/// A parsed head and the bytes its spans are offsets of.
#[derive(Clone, Copy)]
pub(crate) struct Request<'a> {
    pub(crate) head: &'a RequestHead,
    pub(crate) bytes: &'a [u8],
}

impl<'a> Request<'a> {
    /// The host that it is for, without what proxies say.
    pub(crate) fn host(&self) -> Option<&'a [u8]> {
        self.head.host.map(|host| host.of(self.bytes))
    }

    /// What follows the target. An absolute one replaces Host, so that it counts in.
    #[inline]
    pub(crate) fn rest(&self) -> &'a [u8] {
        let target = &self.head.target;
        let start = if target.form == Form::Absolute { target.raw.start } else { target.raw.end };
        &self.bytes[start as usize..]
    }
}

/// An address of IPv4 mapped into IPv6 is written as what it is.
pub(crate) fn address_text(address: SocketAddr) -> String {
    address.ip().to_canonical().to_string()
}

/// What proxies say of a request.
#[inline]
pub(crate) fn is_of_proxy(known: Known) -> bool {
    matches!(
        known,
        Known::Forwarded
            | Known::XForwardedFor
            | Known::XForwardedHost
            | Known::XForwardedPort
            | Known::XForwardedPrefix
            | Known::XForwardedProto
            | Known::XForwardedServer
            | Known::XRealIp
    )
}

/// Secrets are kept out of what connections share. A connection's own repeated head may hold them as long as it is remembered.
#[inline]
pub(crate) fn is_secret(known: Known) -> bool {
    matches!(
        known,
        Known::Authorization
            | Known::Cookie
            | Known::ProxyAuthorization
            | Known::XApiKey
            | Known::XCsrfToken
            | Known::XCsrftoken
    )
}
