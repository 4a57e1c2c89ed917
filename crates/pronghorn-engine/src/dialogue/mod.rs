//! One request being answered by an application that does not block: what the application's side has of it.
//!
//! A [`Dialogue`] belongs to the host's thread. The socket stays with the loop, in the connection's [`Line`]: each operation here takes
//! the loop for a moment, does what can be done at once, and says so when the rest has to wait.

mod inflow;
mod line;
mod out;
mod response;
mod socket;
mod summary;
mod websocket;

use std::mem;
use std::sync::Arc;

use pronghorn_proto::encode::ResponseFields;
use pronghorn_proto::head::RequestHead;
use pronghorn_proto::websocket::Handshake;

pub use self::inflow::Piece;
use self::line::Input;
pub(crate) use self::line::{Begun, Line};
pub use self::response::Room;
pub(crate) use self::summary::Stage;
pub use self::summary::Summary;
pub(crate) use self::websocket::{Compression, Farewell};
pub use self::websocket::{Next, Payload, WebSockets};
use crate::address::{Local, Peer};
use crate::client::{Client, Forwarded, Proxies};
use crate::conn::Token;
use crate::reply::Reply;
use crate::request::Request;
use crate::shared::Shared;
use crate::sys;

/// The code of a WebSocket that has done what it was for (RFC 6455 section 7.4.1).
const NORMAL: u16 = 1000;

/// A request and its response, for the time its application runs.
///
/// A response is either [`respond`](Dialogue::respond), which sends all of it, or [`start`](Dialogue::start), any number of
/// [`write`](Dialogue::write) or [`send_file`](Dialogue::send_file), and [`finish`](Dialogue::finish). With the end of the response the
/// connection goes on without the dialogue; the application may still run.
pub struct Dialogue {
    shared: Arc<Shared>,
    token: Token,
    peer: Peer,
    listener: u16,
    /// None once the response has ended.
    request: Option<Box<Request>>,
    in_buffer: usize,
    reply: Reply,
    head: Vec<u8>,
    fields: ResponseFields,
    summary: Arc<Summary>,
    /// The client asks for a WebSocket, and was not answered.
    handshake: Option<Handshake>,
    /// It ended as its client has gone: until when, in milliseconds of the monotonic clock, the application may go on.
    grace_due: Option<u64>,
}

/// What an application gets when it asks for more of its request.
pub enum Received<'a> {
    /// Bytes of the body, and whether more is to come.
    Slice(&'a [u8], bool),
    /// A part of the body as it was received, and whether more is to come.
    Body(Piece, bool),
    /// The body has ended.
    End,
    /// The client has gone, or the request is answered.
    Disconnect,
    /// Nothing yet: the dialogue will be stirred.
    Pending,
}

impl Dialogue {
    pub(crate) fn new(shared: Arc<Shared>, begun: Begun) -> Self {
        let Begun { token, peer, listener, mut request, summary, in_buffer, handshake } = begun;
        if shared.config.timed {
            request.timing.started = sys::monotonic_micros();
        }
        Dialogue {
            shared,
            token,
            peer,
            listener,
            request: Some(request),
            in_buffer,
            reply: Reply::default(),
            head: Vec::new(),
            fields: ResponseFields::default(),
            summary,
            handshake,
            grace_due: None,
        }
    }

    /// Names the connection: a small number that is used again for later connections, and which of those it is.
    pub fn slot(&self) -> (u32, u32) {
        (self.token.index, self.token.generation)
    }

    /// Names the dialogue among all of the process.
    pub fn number(&self) -> u64 {
        self.summary.number()
    }

    /// The request's head, until the response has ended. Its spans are offsets into [`head_bytes`](Dialogue::head_bytes).
    pub fn head(&self) -> Option<&RequestHead> {
        self.request.as_ref().map(|request| &request.head)
    }

    /// The bytes of the request's head, as they came.
    pub fn head_bytes(&self) -> &[u8] {
        self.request.as_ref().map_or(&[], |request| &request.buffer[..request.head_length])
    }

    /// Who sent it.
    pub fn peer(&self) -> Peer {
        self.peer
    }

    /// For whom it is made: who sent it, or whom trusted proxies name.
    pub fn client(&self) -> Client {
        match &self.request {
            Some(request) => request.client(self.peer, self.proxies()),
            None => self.peer.into(),
        }
    }

    /// All that trusted proxies say of it.
    pub fn forwarded(&self) -> Option<Forwarded<'_>> {
        Some(self.proxies().forwarded(self.head()?, self.head_bytes(), self.peer))
    }

    /// Whom the server believes.
    pub fn proxies(&self) -> &Proxies {
        &self.shared.config.proxies
    }

    /// Its identifier; `None` if requests get none.
    pub fn request_id(&self) -> Option<&[u8]> {
        self.request.as_ref()?.id()
    }

    /// The listener it came in by.
    pub fn local(&self) -> &Local {
        &self.shared.locals[self.listener as usize]
    }

    /// The fields of the response, empty at first.
    pub fn fields(&mut self) -> &mut ResponseFields {
        &mut self.fields
    }

    /// Method and path, for the log; of a WebSocket that it is one, and the path.
    pub fn label(&self) -> String {
        self.summary.line().to_string()
    }

    /// What is told of it, also after its end.
    pub fn summary(&self) -> &Arc<Summary> {
        &self.summary
    }

    /// More of the request. The client is asked for a body that it holds back ([RFC 9110 section 10.1.1]).
    ///
    /// [RFC 9110 section 10.1.1]: https://www.rfc-editor.org/rfc/rfc9110#section-10.1.1
    pub fn receive(&mut self) -> Received<'_> {
        let Some(request) = &self.request else { return Received::Disconnect };
        let mut event_loop = self.shared.event_loop();
        let in_buffer = mem::take(&mut self.in_buffer);
        if in_buffer > 0 {
            let more = event_loop.has_more_input(self.token);
            let from = request.head_length;
            return Received::Slice(&request.buffer[from..from + in_buffer], more);
        }
        match event_loop.take_input(self.token) {
            Input::Body(Some(piece), more) => Received::Body(piece, more),
            Input::Body(None, _) => Received::End,
            Input::Disconnect => Received::Disconnect,
            Input::Pending => Received::Pending,
        }
    }

    /// The application does not wait for more of the request any longer.
    pub fn stop_waiting(&mut self) {
        // The connection may be at another request by now.
        if self.request.is_some() {
            self.shared.event_loop().stop_waiting(self.token);
        }
    }

    /// The application has ended: what it left undone is failed.
    pub fn end(mut self: Box<Self>) {
        if self.is_switched() {
            self.close(NORMAL, "");
        }
        self.fail();
        if let Some(due) = self.grace_due {
            let number = self.number();
            self.shared.event_loop().for_host(|host| host.end_grace(due, number));
        }
    }
}
