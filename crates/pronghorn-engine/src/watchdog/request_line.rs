//! The beginning of a request line, for the log.

use std::fmt;

use crate::request::Request;

/// How much is kept.
const MOST: usize = 256;

/// Method and target of a request, as far as there is room. Shown without the query, which may hold secrets. Of one that asks for a
/// WebSocket it is said that it does, in the place of the method.
pub(crate) struct RequestLine {
    bytes: [u8; MOST],
    length: usize,
    whole: bool,
    of_websocket: bool,
}

impl Default for RequestLine {
    fn default() -> Self {
        RequestLine { bytes: [0; MOST], length: 0, whole: true, of_websocket: false }
    }
}

impl RequestLine {
    pub(crate) fn note(&mut self, request: &Request, of_websocket: bool) {
        let (method, target) = (request.head.method_span, request.head.target.raw);
        let (from, to) = (if of_websocket { target.start } else { method.start }, target.end);
        self.of_websocket = of_websocket;
        let line = &request.buffer[from as usize..to as usize];
        self.length = line.len().min(MOST);
        self.whole = line.len() <= MOST;
        self.bytes[..self.length].copy_from_slice(&line[..self.length]);
    }
}

impl fmt::Display for RequestLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = &self.bytes[..self.length];
        let path = line.split(|byte| *byte == b'?').next().unwrap_or(line);
        let is_cut = path.len() == line.len() && !self.whole;
        let what = if self.of_websocket { "WebSocket " } else { "" };
        write!(f, "{what}{}{}", path.escape_ascii(), if is_cut { "..." } else { "" })
    }
}
