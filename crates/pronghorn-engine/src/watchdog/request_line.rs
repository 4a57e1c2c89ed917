//! The beginning of a request line, for the log.

use std::fmt;

use crate::request::Request;

/// How much is kept.
const MOST: usize = 256;

/// Method and target of a request, as far as there is room. Shown without the query, which may hold secrets.
pub(crate) struct RequestLine {
    bytes: [u8; MOST],
    length: usize,
    whole: bool,
}

impl Default for RequestLine {
    fn default() -> Self {
        RequestLine { bytes: [0; MOST], length: 0, whole: true }
    }
}

impl RequestLine {
    pub(crate) fn note(&mut self, request: &Request) {
        let (from, to) = (request.head.method_span.start, request.head.target.raw.end);
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
        write!(f, "{}{}", path.escape_ascii(), if is_cut { "..." } else { "" })
    }
}
