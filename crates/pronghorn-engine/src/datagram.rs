//! Where datagrams go: to daemons that logs and counters are told to.

use std::fmt;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::path::PathBuf;

/// Where a daemon listens for datagrams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DatagramAddress {
    /// On a UDP port of a host, by name or address.
    Udp(String, u16),
    /// On a Unix socket.
    Unix(PathBuf),
}

/// A socket that does not wait, and the address to send to by it.
///
/// Errors: the name is unknown, or there is no descriptor.
pub(crate) fn udp_socket(host: &str, port: u16) -> io::Result<(UdpSocket, SocketAddr)> {
    let found = (host, port).to_socket_addrs()?.next();
    let to = found.ok_or_else(|| io::Error::from(ErrorKind::AddrNotAvailable))?;
    let any: SocketAddr = match to {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    };
    let socket = UdpSocket::bind(any)?;
    socket.set_nonblocking(true)?;
    Ok((socket, to))
}

impl fmt::Display for DatagramAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DatagramAddress::Unix(path) => path.display().fmt(f),
            DatagramAddress::Udp(host, port) if host.contains(':') => write!(f, "[{host}]:{port}"),
            DatagramAddress::Udp(host, port) => write!(f, "{host}:{port}"),
        }
    }
}
