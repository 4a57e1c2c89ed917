//! Lines as datagrams to a syslog daemon (RFC 3164), without time and host, which the daemon knows.

use std::io::{self, ErrorKind};
use std::net::UdpSocket;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixDatagram;

use super::{PATIENCE, Unwritten, Wait};
use crate::datagram::{DatagramAddress, udp_socket};
use crate::sys;

/// A socket to a syslog daemon.
#[derive(Debug)]
pub(in crate::access) struct Syslog {
    address: DatagramAddress,
    socket: Datagrams,
    /// The datagram being made: what begins each of them, and a line.
    datagram: Vec<u8>,
    prefix: usize,
}

impl Syslog {
    pub(super) fn open(address: DatagramAddress) -> io::Result<Self> {
        let socket = Datagrams::connect(&address)?;
        let datagram = format!("<{PRIORITY}>pronghorn[{}]: ", std::process::id()).into_bytes();
        Ok(Syslog { address, socket, prefix: datagram.len(), datagram })
    }

    pub(super) fn reopen(&mut self) -> io::Result<()> {
        self.socket = Datagrams::connect(&self.address)?;
        Ok(())
    }

    pub(super) fn write(&mut self, lines: &[u8], wait: &mut impl Wait) -> Result<(), Unwritten> {
        let mut from = 0;
        for line in lines.split_inclusive(|byte| *byte == b'\n') {
            self.datagram.truncate(self.prefix);
            let line_end = line.len() - 1;
            self.datagram.extend_from_slice(&line[..line_end.min(LONGEST)]);
            self.send(wait).map_err(|error| Unwritten { from, error })?;
            from += line.len();
        }
        Ok(())
    }

    /// Sends the datagram. A daemon that was restarted has a new socket, to which it goes at the second try.
    fn send(&mut self, wait: &mut impl Wait) -> Result<(), Option<io::Error>> {
        match self.socket.send(&self.datagram, wait) {
            Err(Some(_)) => {
                self.reopen().map_err(Some)?;
                self.socket.send(&self.datagram, wait)
            }
            sent => sent,
        }
    }
}

/// A connected socket for datagrams that does not wait.
#[derive(Debug)]
enum Datagrams {
    Unix(UnixDatagram),
    Udp(UdpSocket),
}

impl Datagrams {
    fn connect(address: &DatagramAddress) -> io::Result<Self> {
        match address {
            DatagramAddress::Unix(path) => {
                let socket = UnixDatagram::unbound()?;
                socket.connect(path)?;
                socket.set_nonblocking(true)?;
                Ok(Datagrams::Unix(socket))
            }
            DatagramAddress::Udp(host, port) => {
                let (socket, to) = udp_socket(host, *port)?;
                socket.connect(to)?;
                Ok(Datagrams::Udp(socket))
            }
        }
    }

    fn send(&self, datagram: &[u8], wait: &mut impl Wait) -> Result<(), Option<io::Error>> {
        loop {
            let sent = match self {
                Datagrams::Unix(socket) => socket.send(datagram),
                Datagrams::Udp(socket) => socket.send(datagram),
            };
            match sent {
                Ok(_) => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let ready = sys::wait_ready(self, true, None, PATIENCE).map_err(Some)?;
                    if !ready && !wait.goes_on() {
                        return Err(None);
                    }
                }
                Err(error) => return Err(Some(error)),
            }
        }
    }
}

impl AsFd for Datagrams {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Datagrams::Unix(socket) => socket.as_fd(),
            Datagrams::Udp(socket) => socket.as_fd(),
        }
    }
}

/// What is longer is cut: daemons take no more of a message.
const LONGEST: usize = 8 << 10;

/// Facility user and severity info (RFC 3164 section 4.1.1), as gunicorn has them.
const PRIORITY: u8 = 8 + 6;
