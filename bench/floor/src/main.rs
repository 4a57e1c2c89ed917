//! The floor of the benchmarks: the textbook epoll server with nothing on top.
//!
//! One thread, level-triggered epoll, one accept for each listener event, one `recv` and one
//! constant `send` for each request. It reads no more of the request than it needs to know whether
//! to close. Every request of the load generators arrives whole in one segment, so each `recv` is
//! taken as one request: that is what makes this a floor and not a server.
//!
//! `floor [PORT [websocket]]` serves 127.0.0.1 and prints the port it got (0 or none: a free one). With `websocket`
//! it shakes hands and echoes messages instead.

mod websocket;

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsRawFd, OwnedFd};

use rustix::event::epoll;
use rustix::io::Errno;
use rustix::net;

fn main() -> std::io::Result<()> {
    let port = requested_port()?;
    let listener = listen(port)?;
    let address: SocketAddrV4 = net::getsockname(&listener)?.try_into()?;
    println!("{}", address.port());
    std::io::stdout().flush()?;
    let websocket = std::env::args().nth(2).as_deref() == Some("websocket");
    let answer = if websocket { websocket::answer } else { answer };
    Server::new(listener, answer)?.run()?;
    Ok(())
}

fn requested_port() -> std::io::Result<u16> {
    let Some(text) = std::env::args().nth(1) else { return Ok(0) };
    text.parse().map_err(|_| {
        let message = format!("{text:?} is no port: give a number from 0 to 65535");
        std::io::Error::new(std::io::ErrorKind::InvalidInput, message)
    })
}

fn listen(port: u16) -> rustix::io::Result<OwnedFd> {
    let flags = net::SocketFlags::NONBLOCK | net::SocketFlags::CLOEXEC;
    let listener =
        net::socket_with(net::AddressFamily::INET, net::SocketType::STREAM, flags, None)?;
    net::sockopt::set_socket_reuseaddr(&listener, true)?;
    net::bind(&listener, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, port))?;
    net::listen(&listener, BACKLOG)?;
    Ok(listener)
}

struct Server {
    epoll: OwnedFd,
    listener: OwnedFd,
    /// The open connections, each at the index of its descriptor's number.
    connections: Vec<Option<OwnedFd>>,
    request: Box<[u8]>,
    answer: Answer,
}

/// Reads from a connection and answers; false ends it.
type Answer = fn(&OwnedFd, &mut [u8]) -> bool;

impl Server {
    fn new(listener: OwnedFd, answer: Answer) -> rustix::io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&epoll, &listener, key(&listener), epoll::EventFlags::IN)?;
        let request = vec![0; REQUEST_SIZE].into_boxed_slice();
        Ok(Self { epoll, listener, connections: Vec::new(), request, answer })
    }

    /// Serves until the kernel reports an error that is not of one connection.
    fn run(&mut self) -> rustix::io::Result<()> {
        let mut events = Vec::with_capacity(EVENTS);
        loop {
            events.clear();
            match epoll::wait(&self.epoll, rustix::buffer::spare_capacity(&mut events), None) {
                Ok(_) => {}
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error),
            }
            for event in &events {
                self.dispatch(event.data)?;
            }
        }
    }

    fn dispatch(&mut self, data: epoll::EventData) -> rustix::io::Result<()> {
        if data.u64() == key(&self.listener).u64() {
            self.accept()
        } else {
            self.answer(data.u64() as usize);
            Ok(())
        }
    }

    fn accept(&mut self) -> rustix::io::Result<()> {
        let flags = net::SocketFlags::NONBLOCK | net::SocketFlags::CLOEXEC;
        let connection = match net::accept_with(&self.listener, flags) {
            Ok(connection) => connection,
            Err(Errno::AGAIN | Errno::CONNABORTED | Errno::INTR) => return Ok(()),
            Err(error) => return Err(error),
        };
        epoll::add(&self.epoll, &connection, key(&connection), epoll::EventFlags::IN)?;
        let index = connection.as_raw_fd() as usize;
        if self.connections.len() <= index {
            self.connections.resize_with(index + 1, || None);
        }
        self.connections[index] = Some(connection);
        Ok(())
    }

    fn answer(&mut self, index: usize) {
        let Some(connection) = &self.connections[index] else { return };
        if !(self.answer)(connection, &mut self.request) {
            self.connections[index] = None; // dropping the descriptor closes it
        }
    }
}

fn answer(connection: &OwnedFd, request: &mut [u8]) -> bool {
    match net::recv(connection, &mut *request, net::RecvFlags::empty()) {
        Ok((0, _)) => false,
        Ok((length, _)) => {
            let sent = net::send(connection, RESPONSE, net::SendFlags::NOSIGNAL);
            sent == Ok(RESPONSE.len()) && !wants_close(&request[..length])
        }
        Err(error) => error == Errno::AGAIN || error == Errno::INTR,
    }
}

fn key(fd: &OwnedFd) -> epoll::EventData {
    epoll::EventData::new_u64(fd.as_raw_fd() as u64)
}

/// Whether the connection ends after this request (RFC 9112 9.3).
fn wants_close(request: &[u8]) -> bool {
    let mut lines = request.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
    let http10 = lines.next().is_some_and(|line| line.ends_with(b"HTTP/1.0"));
    for line in lines {
        if let Some(value) = field_value(line, b"connection:") {
            return !value.eq_ignore_ascii_case(b"keep-alive");
        }
    }
    http10
}

fn field_value<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let (start, value) = line.split_at_checked(name.len())?;
    start.eq_ignore_ascii_case(name).then(|| value.trim_ascii())
}

const BACKLOG: i32 = 4096;
const EVENTS: usize = 256;
const REQUEST_SIZE: usize = 32 * 1024;
const RESPONSE: &[u8] =
    b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 14\r\n\r\nHello, World!\n";

#[cfg(test)]
mod tests {
    use super::wants_close;

    #[test]
    fn persistence_follows_the_version_and_the_connection_field() {
        for (request, close) in [
            (&b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"[..], false),
            (b"GET / HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n", true),
            (b"GET / HTTP/1.0\r\n\r\n", true),
            (b"GET / HTTP/1.0\r\nconnection:Keep-Alive\r\n\r\n", false),
        ] {
            assert_eq!(wants_close(request), close, "{}", String::from_utf8_lossy(request));
        }
    }
}
