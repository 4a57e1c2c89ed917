//! The socket: it never waits, and it may be that nobody listens yet.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;

use crate::datagram::{DatagramAddress, udp_socket};

/// Sends datagrams to one address.
#[derive(Debug)]
pub(super) enum Socket {
    Udp(UdpSocket, SocketAddr),
    Unix(UnixDatagram, PathBuf),
}

impl Socket {
    pub(super) fn new(address: &DatagramAddress) -> io::Result<Self> {
        match address {
            DatagramAddress::Udp(host, port) => {
                let (socket, to) = udp_socket(host, *port)?;
                Ok(Socket::Udp(socket, to))
            }
            DatagramAddress::Unix(path) => {
                let socket = UnixDatagram::unbound()?;
                socket.set_nonblocking(true)?;
                Ok(Socket::Unix(socket, path.clone()))
            }
        }
    }

    /// Sends one datagram, to whoever is there now.
    pub(super) fn send(&self, datagram: &[u8]) -> io::Result<()> {
        loop {
            let sent = match self {
                Socket::Udp(socket, to) => socket.send_to(datagram, to),
                Socket::Unix(socket, path) => socket.send_to(datagram, path),
            };
            match sent {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                sent => return sent.map(drop),
            }
        }
    }
}
