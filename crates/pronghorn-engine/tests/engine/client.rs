//! A client that says exactly what it is told to, and waits for answers only so long.

use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

/// How long anything that must happen is waited for.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// One connection.
pub(crate) struct Client<S = TcpStream> {
    pub(crate) stream: S,
    read: Vec<u8>,
}

/// A response as it came.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Client {
    pub(crate) fn connect(address: SocketAddr) -> Self {
        Self::on(TcpStream::connect(address).expect("the server accepts"))
    }

    /// A client on a stream that is connected.
    pub(crate) fn on(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(DEADLINE)).expect("a timeout");
        stream.set_write_timeout(Some(DEADLINE)).expect("a timeout");
        stream.set_nodelay(true).expect("an option");
        Client { stream, read: Vec::new() }
    }

    /// Ends the client's side; it can still read.
    pub(crate) fn half_close(&self) {
        self.stream.shutdown(Shutdown::Write).expect("the connection is there");
    }

    /// Sends, and reads nothing, until the server has closed the connection.
    pub(crate) fn send_until_closed(&mut self) {
        let begun = Instant::now();
        let error = loop {
            assert!(begun.elapsed() < DEADLINE, "the server does not close");
            if let Err(error) = self.stream.write(b"more") {
                break error;
            }
            std::thread::yield_now();
        };
        let closed = [io::ErrorKind::BrokenPipe, io::ErrorKind::ConnectionReset];
        assert!(closed.contains(&error.kind()), "the server does not close: {error}");
    }

    /// A second hold on the connection, to write by while this one reads.
    pub(crate) fn writer(&self) -> TcpStream {
        self.stream.try_clone().expect("a descriptor")
    }
}

impl Client<UnixStream> {
    pub(crate) fn connect_unix(path: &std::path::Path) -> Self {
        let stream = UnixStream::connect(path).expect("the server accepts");
        stream.set_read_timeout(Some(DEADLINE)).expect("a timeout");
        Client { stream, read: Vec::new() }
    }
}

impl<S: Read + Write> Client<S> {
    pub(crate) fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.stream.write_all(bytes.as_ref()).expect("the server reads");
    }

    /// Sends a GET and reads its response.
    pub(crate) fn get(&mut self, target: &str) -> Response {
        self.send(get(target));
        self.response()
    }

    /// Reads one response.
    pub(crate) fn response(&mut self) -> Response {
        self.response_to("GET")
    }

    /// Reads the response to a request of this method.
    pub(crate) fn response_to(&mut self, method: &str) -> Response {
        let head = self.head();
        let status = head[9..12].parse().expect("a status");
        let length = field(&head, "Content-Length").map(|text| text.parse().expect("a number"));
        let body = match length {
            _ if method == "HEAD" || matches!(status, 100..=199 | 204 | 304) => Vec::new(),
            Some(length) => self.take(length),
            None if field(&head, "Transfer-Encoding").is_some() => self.chunks(),
            None => self.rest().expect("an orderly end"),
        };
        Response { status, head, body }
    }

    /// Reads a response's head.
    pub(crate) fn head(&mut self) -> String {
        loop {
            if let Some(end) = self.read.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
                let head = self.take(end + 4);
                return String::from_utf8(head).expect("ASCII");
            }
            self.fill().expect("a whole head");
        }
    }

    /// Takes exactly `length` bytes.
    pub(crate) fn take(&mut self, length: usize) -> Vec<u8> {
        while self.read.len() < length {
            self.fill().expect("a whole body");
        }
        let rest = self.read.split_off(length);
        std::mem::replace(&mut self.read, rest)
    }

    /// Everything to the end of the connection.
    pub(crate) fn rest(&mut self) -> io::Result<Vec<u8>> {
        self.stream.read_to_end(&mut self.read)?;
        Ok(std::mem::take(&mut self.read))
    }

    /// The server closes the connection, and sends nothing before.
    pub(crate) fn expect_end(&mut self) {
        let rest = self.rest().expect("an orderly end");
        assert_eq!(String::from_utf8_lossy(&rest), "");
    }

    /// The server cuts or closes the connection; gives what came before.
    pub(crate) fn until_gone(&mut self) -> Vec<u8> {
        let mut buffer = [0; 16 << 10];
        loop {
            match self.stream.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => self.read.extend_from_slice(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => break,
                Err(error) => panic!("neither end nor reset: {error}"),
            }
        }
        std::mem::take(&mut self.read)
    }

    /// Sends what is no request; the server says so without a handler.
    pub(crate) fn expect_refusal(&mut self) {
        self.send("nonsense\r\n\r\n");
        assert_eq!(self.response().status, 400);
    }

    fn chunks(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        loop {
            let line = self.line();
            let length = usize::from_str_radix(&line, 16).expect("a chunk size");
            body.extend(self.take(length));
            assert_eq!(self.take(2), b"\r\n");
            if length == 0 {
                return body;
            }
        }
    }

    fn line(&mut self) -> String {
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") {
            line.extend(self.take(1));
        }
        String::from_utf8_lossy(&line[..line.len() - 2]).into_owned()
    }

    fn fill(&mut self) -> io::Result<()> {
        let mut buffer = [0; 64 << 10];
        match self.stream.read(&mut buffer)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            count => {
                self.read.extend_from_slice(&buffer[..count]);
                Ok(())
            }
        }
    }
}

impl Response {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        field(&self.head, name)
    }

    pub(crate) fn closes(&self) -> bool {
        self.field("Connection") == Some("close")
    }
}

/// A GET of this target.
pub(crate) fn get(target: &str) -> String {
    format!("GET {target} HTTP/1.1\r\nHost: a\r\n\r\n")
}

/// The head of a POST with this framing field.
pub(crate) fn post(framing: &str) -> String {
    format!("POST /echo HTTP/1.1\r\nHost: a\r\n{framing}\r\n\r\n")
}

/// `body` in chunks of `size` bytes, ended.
pub(crate) fn chunked(body: &[u8], size: usize) -> Vec<u8> {
    let mut wire = Vec::new();
    for chunk in body.chunks(size) {
        wire.extend(format!("{:x}\r\n", chunk.len()).bytes());
        wire.extend(chunk);
        wire.extend(b"\r\n");
    }
    wire.extend(b"0\r\n\r\n");
    wire
}

/// Bytes that tell their place.
pub(crate) fn pattern(length: usize) -> Vec<u8> {
    (0..length).map(|at| (at % 251) as u8 ^ (at >> 12) as u8).collect()
}

fn field<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| {
        let (key, value) = line.split_once(": ")?;
        key.eq_ignore_ascii_case(name).then_some(value)
    })
}
