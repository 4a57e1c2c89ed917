//! What the loop has of a request that its application answers without blocking: the body that comes in, the output that goes
//! out, and what the application waits for.

mod body;
mod client;
mod due;
mod give_up;
mod host;

use std::mem;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use pronghorn_proto::error::Error;
use pronghorn_proto::framing::Framing;
use pronghorn_proto::state::State;
use pronghorn_proto::websocket::Handshake;
use pronghorn_proto::websocket::deflate::Options;

pub(super) use self::client::Client;
pub(crate) use self::host::Input;
use super::inflow::Inflow;
use super::summary::{Stage, Summary};
use super::websocket::WebSocket;
use crate::address::Peer;
use crate::conn::{Conn, Flushed, Output, Phase, Step, Table, Token, Watched};
use crate::event_loop::EventLoop;
use crate::request::Request;
use crate::sys;
use crate::timer::Tick;

/// At most this many reads of one body in a turn.
pub(super) const READS_A_TURN: usize = 16;

/// The loop's part of a dialogue.
pub(crate) struct Line {
    pub(super) inflow: Inflow,
    pub(super) output: Output,
    /// The application waits for a part of the body, or for the client to go.
    pub(super) wants_input: bool,
    /// The application waits until less output waits.
    pub(super) wants_room: bool,
    pub(super) client: Client,
    /// Whether the application was told the end of the body.
    pub(super) told_end: bool,
    /// When the client is late with reading what waits.
    write_due: Tick,
    /// When it is late with the body.
    body_due: Tick,
    /// When the application is late with its answer, and when it is slow.
    request_due: Tick,
    slow_due: Tick,
    /// What was left until both when the application began to wait for its client, which does not count.
    paused: Option<(Tick, Tick)>,
    /// When it was long enough without its client.
    gone_due: Tick,
    /// The host was told that it is to try again, and did not yet.
    is_stirred: bool,
    /// Output waits for that of others.
    pub(super) is_kept: bool,
    /// What is told of the request.
    pub(super) summary: Arc<Summary>,
    /// What the connection has become, if that is a WebSocket.
    pub(super) websocket: Option<Box<WebSocket>>,
}

/// A connection in a dialogue, in its parts.
pub(super) struct Talk<'a> {
    pub(super) socket: &'a OwnedFd,
    pub(super) state: &'a mut State,
    pub(super) line: &'a mut Line,
}

/// A request whose application can begin.
pub(crate) struct Begun {
    pub(crate) token: Token,
    pub(crate) peer: Peer,
    pub(crate) listener: u16,
    pub(crate) request: Box<Request>,
    /// What is told of it.
    pub(crate) summary: Arc<Summary>,
    /// How much of the body lies in the request's buffer, behind the head.
    pub(crate) in_buffer: usize,
    /// It asks for a WebSocket.
    pub(crate) handshake: Option<Handshake>,
}

impl Table {
    /// The connection, if it is in a dialogue.
    pub(super) fn talk(&mut self, token: Token) -> Option<Talk<'_>> {
        self.get(token)?.talk()
    }
}

impl Conn {
    pub(super) fn talk(&mut self) -> Option<Talk<'_>> {
        match (&mut self.phase, &self.socket) {
            (Phase::Dialogue(line), Some(socket)) => {
                Some(Talk { socket, state: &mut self.state, line })
            }
            _ => None,
        }
    }
}

impl Line {
    /// Names its dialogue.
    pub(crate) fn number(&self) -> u64 {
        self.summary.number()
    }

    /// The application tries again.
    pub(super) fn unstir(&mut self) {
        self.is_stirred = false;
        self.wants_input = false;
    }

    /// Gives whether the client is to be read on.
    fn all_is_sent(&mut self) -> bool {
        self.write_due = 0;
        self.websocket.as_mut().is_some_and(|websocket| websocket.answers_are_sent())
    }

    /// What was read beyond the request.
    pub(super) fn take_rest(&mut self) -> Vec<u8> {
        mem::take(&mut self.inflow.rest)
    }

    pub(super) fn into_output(self) -> Output {
        self.summary.note(Stage::Outlasting);
        self.output
    }
}

/// From the loop's side.
impl EventLoop {
    /// The head of a request is complete: its application can begin, whatever there is of the body.
    pub(crate) fn begin_dialogue(
        &mut self,
        token: Token,
        mut request: Box<Request>,
        handshake: Option<Handshake>,
    ) -> Step {
        let framing = request.head.framing;
        let mut inflow = Inflow::new(framing, &self.config.limits);
        let head = request.head_length;
        let fed = match inflow.feed(&request.buffer[head..]) {
            Ok(fed) => fed,
            Err(error) => return self.refused(token, request, error),
        };
        request.consumed = head + fed;
        let in_buffer = if framing == Framing::Chunked { 0 } else { fed };
        let Some(conn) = self.conns.get(token) else { return Step::Left };
        let (peer, listener) = (conn.peer, conn.listener);
        if !inflow.is_open() && !matches!(framing, Framing::None | Framing::Length(0)) {
            conn.state.body_complete();
        }
        let client = request.client(peer, &self.config.proxies);
        let number = self.dialogues;
        let asks_for_websocket = handshake.is_some();
        let summary = Summary::new(number, &request, client, asks_for_websocket, self.now);
        let summary = Arc::new(summary);
        let line = Line {
            inflow,
            output: Output::default(),
            wants_input: false,
            wants_room: false,
            client: if conn.noted.ended { Client::HalfClosed } else { Client::Here },
            told_end: false,
            write_due: 0,
            body_due: 0,
            request_due: 0,
            slow_due: 0,
            paused: None,
            gone_due: 0,
            is_stirred: false,
            is_kept: false,
            summary: summary.clone(),
            websocket: None,
        };
        conn.phase = Phase::Dialogue(Box::new(line));
        self.in_flight += 1;
        self.dialogues += 1;
        request.queued_at = self.now;
        if self.config.timed {
            request.timing.queued = sys::monotonic_micros();
        }
        self.set_request_deadlines(token);
        // A client that waits for 100 sends nothing yet.
        if self.conns.get(token).is_some_and(|conn| !conn.state.wants_continue() || fed > 0) {
            self.read_ahead(token);
        }
        if self.config.deadlines.disconnect_grace.is_some() {
            // Else it is watched only when the application waits.
            self.watch_line(token);
        }
        if self.conns.get(token).is_none() {
            self.in_flight -= 1;
            return Step::Left;
        }
        let begun = Begun { token, peer, listener, request, summary, in_buffer, handshake };
        self.for_host(|host| host.begin(begun));
        Step::Left
    }

    /// The handshake of a WebSocket in a head, where applications can be asked for one.
    pub(crate) fn handshake(&self, request: &Request) -> Result<Option<Handshake>, Error> {
        if !self.is_hosted() {
            return Ok(None);
        }
        let deflate = self.config.websockets.deflate.then(Options::default);
        Handshake::read(&request.head, &request.buffer, deflate.as_ref())
    }

    /// Goes on with a connection that had more to read or write than one turn takes.
    pub(crate) fn proceed_with_line(&mut self, token: Token) {
        self.flush_line(token);
        let talk = self.conns.talk(token);
        match talk.is_some_and(|talk| talk.line.websocket.is_some()) {
            true => self.read_websocket(token),
            false => self.read_ahead(token),
        }
    }

    /// Sends what waited for others.
    pub(crate) fn flush_kept(&mut self, token: Token) {
        if self.conns.talk(token).is_some_and(|talk| talk.line.is_kept) {
            self.output_waits(token);
        }
    }

    /// Sends what waits, as far as the socket takes it.
    pub(crate) fn flush_line(&mut self, token: Token) {
        let Some(talk) = self.conns.talk(token) else { return };
        talk.line.is_kept = false;
        if talk.line.output.is_empty() {
            return;
        }
        let (before, mut reads_on) = (talk.line.output.sent(), false);
        let flushed = talk.line.output.flush(talk.socket);
        let most = self.config.write_ahead;
        match flushed {
            Ok(Flushed::All) => reads_on = talk.line.all_is_sent(),
            // Without progress it is as late as before.
            Ok(Flushed::Full) if talk.line.write_due > 0 && talk.line.output.sent() == before => {}
            Ok(Flushed::Full) => {
                let due = self.wheel.after(self.now, sys::millis(self.config.deadlines.write));
                talk.line.write_due = due;
            }
            Ok(Flushed::More) => return self.go_on_later(token),
            Err(_) => {
                talk.line.client = Client::Gone;
                self.begin_grace(token);
            }
        }
        let Some(Talk { line, .. }) = self.conns.talk(token) else { return };
        if line.wants_room && (line.client == Client::Gone || line.output.waiting() <= most) {
            self.stir(token);
        }
        if reads_on {
            self.go_on_later(token);
        }
        self.watch_line(token);
        self.set_line_deadline(token);
    }

    /// Has the selector watch the connection for what is of interest now.
    pub(super) fn watch_line(&mut self, token: Token) {
        let Some(talk) = self.conns.talk(token) else { return };
        // What is kept has not met a full socket.
        let is_full = !talk.line.output.is_empty() && !talk.line.is_kept;
        let wanted = if is_full { Watched::ReadWrite } else { Watched::Read };
        self.watch(token, wanted);
    }

    /// Has the host try again what the application waits for.
    pub(super) fn stir(&mut self, token: Token) {
        let Some(talk) = self.conns.talk(token) else { return };
        let waits = talk.line.wants_input || talk.line.wants_room;
        if waits && !mem::replace(&mut talk.line.is_stirred, true) {
            let number = talk.line.number();
            self.for_host(|host| host.stir(number));
        }
    }
}
