//! A request as the log names it.

use std::fmt;
use std::net::SocketAddr;

use super::RequestLine;
use crate::client::Client;
use crate::request::Request;

/// Method, path and client of a request.
pub(crate) struct Label {
    line: RequestLine,
    client: Client,
}

impl Default for Label {
    fn default() -> Self {
        Label { line: RequestLine::default(), client: Client { ip: None, port: None } }
    }
}

impl Label {
    /// `of_websocket`: it asks for one.
    pub(crate) fn note(&mut self, request: &Request, client: Client, of_websocket: bool) {
        self.line.note(request, of_websocket);
        self.client = client;
    }

    /// A proxy says for whom the request is made.
    pub(crate) fn note_client(&mut self, client: Client) {
        self.client = client;
    }

    /// Without the client.
    pub(crate) fn line(&self) -> &RequestLine {
        &self.line
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of ", self.line)?;
        match self.client {
            Client { ip: Some(ip), port: Some(port) } => SocketAddr::new(ip, port).fmt(f),
            Client { ip: Some(ip), port: None } => ip.fmt(f),
            Client { ip: None, .. } => f.write_str("a client on a Unix socket"),
        }
    }
}
