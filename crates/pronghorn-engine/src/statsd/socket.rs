//! The socket: it never waits, and it may be that nobody listens yet.

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, ToSocketAddrs, UdpSocket};
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;

use super::StatsdAddress;

/// Sends datagrams to one address.
#[derive(Debug)]
pub(super) enum Socket {
    Udp(UdpSocket, SocketAddr),
    Unix(UnixDatagram, PathBuf),
}

impl Socket {
    pub(super) fn new(address: &StatsdAddress) -> io::Result<Self> {
        match address {
            StatsdAddress::Udp(host, port) => {
                let found = (host.as_str(), *port).to_socket_addrs()?.next();
                let to = found.ok_or_else(|| io::Error::from(ErrorKind::AddrNotAvailable))?;
                let socket = UdpSocket::bind(any_of_family(to))?;
                socket.set_nonblocking(true)?;
                Ok(Socket::Udp(socket, to))
            }
            StatsdAddress::Unix(path) => {
                let socket = UnixDatagram::unbound()?;
                socket.set_nonblocking(true)?;
                Ok(Socket::Unix(socket, path.clone()))
            }
        }
    }

    /// Sends one datagram, to whoever is there now.
    pub(super) fn send(&self, datagram: &[u8]) -> io::Result<()> {
        match self {
            Socket::Udp(socket, to) => socket.send_to(datagram, to).map(drop),
            Socket::Unix(socket, path) => socket.send_to(datagram, path).map(drop),
        }
    }
}

fn any_of_family(to: SocketAddr) -> SocketAddr {
    match to {
        SocketAddr::V4(_) => (Ipv4Addr::UNSPECIFIED, 0).into(),
        SocketAddr::V6(_) => (Ipv6Addr::UNSPECIFIED, 0).into(),
    }
}
