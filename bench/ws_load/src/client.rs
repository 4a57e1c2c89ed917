//! One WebSocket: the handshake, messages in and out.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{self, AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType};

use crate::frame::{self, Outgoing};

pub(crate) struct Client {
    socket: TcpStream,
    /// The beginning of a frame of which more has to come.
    partial: Vec<u8>,
}

impl Client {
    /// Connects and shakes hands, from one of several addresses, so that ports do not run out.
    pub(crate) fn connect(port: u16, index: usize) -> io::Result<Self> {
        let source = Ipv4Addr::new(127, 0, 0, 2 + (index % SOURCES) as u8);
        let flags = SocketFlags::CLOEXEC;
        let socket = net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
        net::bind(&socket, &SocketAddrV4::new(source, 0))?;
        net::connect(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))?;
        let socket = TcpStream::from(socket);
        socket.set_nodelay(true)?;
        let partial = shake_hands(&socket, port)?;
        socket.set_nonblocking(true)?;
        Ok(Self { socket, partial })
    }

    /// Whether something was received that no message was made of yet.
    pub(crate) fn has_more(&self) -> bool {
        !self.partial.is_empty()
    }

    /// Sends all of `frame`, and waits while the server does not take it.
    pub(crate) fn send(&self, mut frame: &[u8]) -> io::Result<()> {
        while !frame.is_empty() {
            match net::send(&self.socket, frame, SendFlags::NOSIGNAL) {
                Ok(sent) => frame = &frame[sent..],
                Err(Errno::AGAIN) => self.await_room()?,
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn await_room(&self) -> io::Result<()> {
        let mut wanted = [PollFd::new(&self.socket, PollFlags::OUT)];
        let patience = Timespec { tv_sec: REPLY_SECONDS as i64, tv_nsec: 0 };
        match poll(&mut wanted, Some(&patience))? {
            0 => Err(io::Error::other("the server takes no more")),
            _ => Ok(()),
        }
    }

    /// Receives once into `scratch`, calls `on_message` for each message that is complete, and answers pings.
    pub(crate) fn receive(
        &mut self,
        scratch: &mut [u8],
        on_message: impl FnMut(&Self, &[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let length = match net::recv(&self.socket, &mut *scratch, RecvFlags::empty()) {
            Ok((0, _)) => return Err(io::Error::other("the server ended a connection")),
            Ok((length, _)) => length,
            Err(Errno::AGAIN | Errno::INTR) => 0,
            Err(error) => return Err(error.into()),
        };
        if self.partial.is_empty() {
            let taken = self.take_frames(&scratch[..length], on_message)?;
            self.partial.extend_from_slice(&scratch[taken..length]);
        } else {
            let mut received = std::mem::take(&mut self.partial);
            received.extend_from_slice(&scratch[..length]);
            let taken = self.take_frames(&received, on_message)?;
            received.drain(..taken);
            self.partial = received;
        }
        Ok(())
    }

    /// Goes over the frames of `received` and gives how many bytes of it the complete ones take.
    fn take_frames(
        &self,
        received: &[u8],
        mut on_message: impl FnMut(&Self, &[u8]) -> io::Result<()>,
    ) -> io::Result<usize> {
        let mut taken = 0;
        while let Some(frame) = frame::parse(&received[taken..])? {
            match frame.opcode {
                frame::BINARY => on_message(self, frame.payload)?,
                frame::PING => self.send(Outgoing::new(frame::PONG, frame.payload).as_bytes())?,
                frame::PONG => {}
                frame::CLOSE => return Err(closed(frame.payload)),
                other => return Err(io::Error::other(format!("a frame of type {other}"))),
            }
            taken += frame.length;
        }
        Ok(taken)
    }
}

impl AsFd for Client {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Asks for the upgrade and gives what came after the answer.
fn shake_hands(mut socket: &TcpStream, port: u16) -> io::Result<Vec<u8>> {
    socket.set_read_timeout(Some(Duration::from_secs(REPLY_SECONDS)))?;
    let request = format!(
        "GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Key: {KEY}\r\nSec-WebSocket-Version: 13\r\n\r\n"
    );
    socket.write_all(request.as_bytes())?;
    let mut received = Vec::new();
    loop {
        if let Some(end) = received.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            let after = received.split_off(end + 4);
            return if is_accepted(&received) { Ok(after) } else { Err(refused(&received)) };
        }
        let mut more = [0; 1024];
        match socket.read(&mut more)? {
            0 => return Err(refused(&received)),
            length => received.extend_from_slice(&more[..length]),
        }
    }
}

/// Whether a head is the answer to the handshake (RFC 6455 4.1).
fn is_accepted(head: &[u8]) -> bool {
    let head = String::from_utf8_lossy(head);
    let mut fields = head.lines().filter_map(|line| line.split_once(':'));
    head.starts_with("HTTP/1.1 101 ")
        && fields.any(|(name, value)| {
            name.eq_ignore_ascii_case("sec-websocket-accept") && value.trim() == ACCEPT
        })
}

fn refused(head: &[u8]) -> io::Error {
    let head = String::from_utf8_lossy(head);
    let line = head.lines().next().unwrap_or("nothing").to_owned();
    io::Error::other(format!("no WebSocket: the server answered {line:?}"))
}

fn closed(payload: &[u8]) -> io::Error {
    let code = payload.first_chunk().map_or(1005, |code| u16::from_be_bytes(*code));
    io::Error::other(format!("the server closed a WebSocket with {code}"))
}

const SOURCES: usize = 8;
const REPLY_SECONDS: u64 = 10;
/// The example of RFC 6455 1.3: the answer is known, and no client needs to compute it.
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
const ACCEPT: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";

#[cfg(test)]
mod tests {
    use super::is_accepted;

    #[test]
    fn only_the_right_answer_is_an_accepted_handshake() {
        let good =
            "HTTP/1.1 101 Switching\r\nSEC-WEBSOCKET-ACCEPT:s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
        assert!(is_accepted(good.as_bytes()));
        assert!(!is_accepted(good.replace("101", "200").as_bytes()));
        assert!(!is_accepted(good.replace("s3pP", "t3pP").as_bytes()));
        assert!(!is_accepted(b"HTTP/1.1 101 Switching\r\n\r\n"));
    }
}
