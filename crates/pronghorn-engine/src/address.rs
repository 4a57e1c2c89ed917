//! Who is connected, and to what.

use std::net::SocketAddr;

/// The other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Peer {
    /// A TCP peer.
    Inet(SocketAddr),
    /// A peer on a Unix socket, which has no address.
    Unix,
}

/// The listener a connection came in by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Local {
    /// Its place in the list of listeners.
    pub index: usize,
    /// The host for `SERVER_NAME`: the address bound, or the path of a Unix socket.
    pub name: String,
    /// The port for `SERVER_PORT`, in digits; empty for a Unix socket.
    pub port: String,
    /// A Unix socket.
    pub unix: bool,
}
