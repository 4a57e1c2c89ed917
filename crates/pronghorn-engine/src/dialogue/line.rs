//! What the loop has of a request that its application answers without blocking: the body that comes in, the output that goes
//! out, and what the application waits for.

use std::mem;
use std::os::fd::OwnedFd;

use pronghorn_proto::encode::CONTINUE;
use pronghorn_proto::error::Error;
use pronghorn_proto::framing::Framing;
use pronghorn_proto::state::State;
use pronghorn_proto::websocket::Handshake;
use pronghorn_proto::websocket::deflate::Options;

use super::inflow::{Inflow, Piece, Read};
use super::websocket::WebSocket;
use crate::address::Peer;
use crate::conn::{self, Conn, Flushed, Output, Phase, Step, Table, Token, Watched};
use crate::event_loop::EventLoop;
use crate::hosted::Late;
use crate::metrics::Timeout;
use crate::request::Request;
use crate::sys::{self, Ready};
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
    /// What the connection has become, if that is a WebSocket.
    pub(super) websocket: Option<Box<WebSocket>>,
}

/// What is known of the client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Client {
    Here,
    /// It ended its side before the application began: it may wait for the answer.
    HalfClosed,
    /// It ended its side since: most likely it has gone, but what is sent may still arrive.
    Left,
    /// As `Left`, and the application knows.
    KnownToLeave,
    /// Nothing can be sent.
    Gone,
}

/// What an application gets when it asks for more of its request.
pub(crate) enum Input {
    /// A part of the body, and whether more is to come.
    Body(Option<Piece>, bool),
    /// The client has gone, or the request is answered.
    Disconnect,
    /// Nothing yet.
    Pending,
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
    /// The response has begun: how long the application takes from here on is its own affair.
    pub(super) fn answered(&mut self) {
        self.request_due = 0;
        self.slow_due = 0;
        self.paused = None;
    }

    /// The application tries again.
    pub(super) fn unstir(&mut self) {
        self.is_stirred = false;
        self.wants_input = false;
    }

    /// The application waits for its client from `now` on.
    fn pause(&mut self, now: Tick) {
        if self.paused.is_none() {
            let left = |due: Tick| if due == 0 { 0 } else { due.saturating_sub(now).max(1) };
            self.paused = Some((left(self.request_due), left(self.slow_due)));
            self.request_due = 0;
            self.slow_due = 0;
        }
    }

    /// It has what it waited for.
    fn resume(&mut self, now: Tick) {
        if let Some((request, slow)) = self.paused.take() {
            let due = |left: Tick| if left == 0 { 0 } else { now.saturating_add(left) };
            self.request_due = due(request);
            self.slow_due = due(slow);
        }
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
            websocket: None,
        };
        conn.phase = Phase::Dialogue(Box::new(line));
        self.in_flight += 1;
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
        let begun = Begun { token, peer, listener, request, in_buffer, handshake };
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

    /// The selector reported something for a connection in a dialogue.
    pub(crate) fn on_line_ready(&mut self, token: Token, ready: &Ready) {
        if ready.writable {
            self.flush_line(token);
        }
        let talk = self.conns.talk(token);
        if talk.is_some_and(|talk| talk.line.websocket.is_some()) {
            return self.on_websocket_ready(token, ready);
        }
        self.read_ahead(token);
        let Some(talk) = self.conns.talk(token) else { return };
        match talk.line.client {
            Client::Gone => {}
            _ if ready.gone => talk.line.client = Client::Gone,
            Client::Here if ready.ended => talk.line.client = Client::Left,
            _ => {}
        }
        if talk.line.client > Client::HalfClosed {
            self.client_has_gone(token);
        }
    }

    /// The application is told if it waits, and ended if it goes on for too long.
    fn client_has_gone(&mut self, token: Token) {
        self.stir(token);
        let Some(grace) = self.config.deadlines.disconnect_grace else { return };
        let due = self.wheel.after(self.now, sys::millis(grace));
        if let Some(talk) = self.conns.talk(token)
            && talk.line.gone_due == 0
        {
            talk.line.gone_due = due;
            self.set_line_deadline(token);
        }
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

    fn on_websocket_ready(&mut self, token: Token, ready: &Ready) {
        if ready.gone
            && let Some(talk) = self.conns.talk(token)
        {
            talk.line.client = Client::Gone;
        }
        self.read_websocket(token);
    }

    /// Reads the body as far as it is there and may be held.
    pub(crate) fn read_ahead(&mut self, token: Token) {
        for _ in 0..READS_A_TURN {
            match self.read_piece(token) {
                Step::More => {}
                Step::Wait => return self.watch_line(token),
                Step::Left => return,
            }
        }
        self.go_on_later(token);
    }

    fn read_piece(&mut self, token: Token) -> Step {
        let bound = self.config.read_ahead;
        let (handler, attached) = (&self.handler, self.attached);
        let Some(conn) = self.conns.get(token) else { return Step::Left };
        let noted = &mut conn.noted;
        let (Phase::Dialogue(line), Some(socket)) = (&mut conn.phase, &conn.socket) else {
            return Step::Left;
        };
        if !line.inflow.is_open() || line.inflow.is_full(bound) {
            return Step::Left;
        }
        let lend = |length| if attached { handler.body_buffer(length) } else { None };
        match line.inflow.recv(socket, &mut self.scratch, bound, lend) {
            Ok(Read { bytes: 0, .. }) => self.body_failed_within(token, Error::BodyTruncated),
            Ok(Read { bytes, drained }) => {
                noted.readable = !drained || noted.ended;
                self.took_piece(token, bytes)
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {
                noted.readable = false;
                Step::Wait
            }
            Err(_) => {
                line.client = Client::Gone;
                self.body_failed_within(token, Error::BodyTruncated)
            }
        }
    }

    fn took_piece(&mut self, token: Token, bytes: usize) -> Step {
        if let Some(metrics) = &self.config.metrics {
            metrics.received(bytes);
        }
        let tick = self.wheel.after(self.now, 0);
        let Some(talk) = self.conns.talk(token) else { return Step::Left };
        talk.line.resume(tick);
        if let Some(error) = talk.line.inflow.failed.take() {
            return self.body_failed_within(token, error);
        }
        let step = if talk.line.inflow.is_complete() {
            talk.state.body_complete();
            talk.line.body_due = 0;
            Step::Left
        } else {
            Step::More
        };
        let is_waited_for = talk.line.wants_input && !talk.line.inflow.awaits_bytes();
        if is_waited_for {
            self.stir(token);
            self.input_has_come(token);
        }
        self.set_line_deadline(token);
        step
    }

    /// How long the application takes to come for it is not the client's affair.
    fn input_has_come(&mut self, token: Token) {
        let now = self.now;
        let Some(talk) = self.conns.talk(token) else { return };
        talk.line.inflow.end_wait(now);
        talk.line.wants_input = false;
        talk.line.body_due = 0;
    }

    /// No more of the body comes, as it is malformed, cut or late.
    pub(super) fn body_failed_within(&mut self, token: Token, error: Error) -> Step {
        let tick = self.wheel.after(self.now, 0);
        let Some(talk) = self.conns.talk(token) else { return Step::Left };
        talk.line.resume(tick);
        talk.line.inflow.failed = Some(error);
        talk.line.body_due = 0;
        talk.state.request_failed();
        self.stir(token);
        Step::Left
    }

    /// Sends what waits, as far as the socket takes it.
    pub(crate) fn flush_line(&mut self, token: Token) {
        let Some(talk) = self.conns.talk(token) else { return };
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
            Err(_) => talk.line.client = Client::Gone,
        }
        let line = &mut *talk.line;
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
        let wanted = if talk.line.output.is_empty() { Watched::Read } else { Watched::ReadWrite };
        self.watch(token, wanted);
    }

    /// Has the host try again what the application waits for.
    pub(super) fn stir(&mut self, token: Token) {
        let Some(talk) = self.conns.talk(token) else { return };
        let waits = talk.line.wants_input || talk.line.wants_room;
        if waits && !mem::replace(&mut talk.line.is_stirred, true) {
            self.for_host(|host| host.stir(token));
        }
    }

    /// A deadline of the dialogue may have passed.
    pub(crate) fn line_is_due(&mut self, token: Token, now: Tick) {
        let Some(talk) = self.conns.talk(token) else { return };
        let line = talk.line;
        let is_over = |due: &mut Tick| *due > 0 && *due <= now && mem::take(due) > 0;
        let (write, body) = (is_over(&mut line.write_due), is_over(&mut line.body_due));
        let (request, slow) = (is_over(&mut line.request_due), is_over(&mut line.slow_due));
        let gone = is_over(&mut line.gone_due);
        if write {
            sys::reset_on_close(talk.socket);
            line.client = Client::Gone;
            self.count_timeout(Timeout::Write);
            self.stir(token);
        }
        if body {
            self.count_timeout(Timeout::Body);
            self.body_failed_within(token, Error::BodyTimeout);
        }
        self.websocket_is_due(token, now);
        if gone {
            self.for_host(|host| host.late(token, Late::ClientGone));
        }
        if request {
            self.count_timeout(Timeout::Request);
            self.for_host(|host| host.late(token, Late::Overdue));
        } else if slow {
            self.for_host(|host| host.late(token, Late::Slow));
        }
        self.set_line_deadline(token);
    }

    fn count_timeout(&self, what: Timeout) {
        if let Some(metrics) = &self.config.metrics {
            metrics.timed_out(what);
        }
    }

    fn set_request_deadlines(&mut self, token: Token) {
        let after = |limit: Option<std::time::Duration>| {
            limit.map_or(0, |limit| self.wheel.after(self.now, sys::millis(limit)))
        };
        let deadlines = &self.config.deadlines;
        let (request, slow) = (after(deadlines.request), after(deadlines.slow_request));
        if let Some(talk) = self.conns.talk(token) {
            talk.line.request_due = request;
            talk.line.slow_due = slow;
        }
        self.set_line_deadline(token);
    }

    /// The earliest of what is due is the connection's deadline.
    pub(super) fn set_line_deadline(&mut self, token: Token) {
        let Some(conn) = self.conns.get(token) else { return };
        let Phase::Dialogue(line) = &conn.phase else { return };
        let websocket = line.websocket.as_ref().map_or(0, |websocket| websocket.due());
        let own = [line.write_due, line.body_due, line.request_due, line.slow_due, line.gone_due];
        let all = own.into_iter().chain([websocket]);
        match all.filter(|due| *due > 0).min() {
            None => conn.deadline = 0,
            Some(due) => self.set_deadline_tick(token, due),
        }
    }
}

/// From the host's side.
impl EventLoop {
    /// What there is of the request for the application.
    pub(super) fn take_input(&mut self, token: Token) -> Input {
        self.now = sys::monotonic_millis();
        let Some(talk) = self.conns.talk(token) else {
            return Input::Disconnect;
        };
        talk.line.is_stirred = false;
        talk.line.body_due = 0;
        if mem::replace(&mut talk.line.wants_input, false) {
            talk.line.inflow.end_wait(self.now);
        }
        if talk.state.wants_continue() {
            self.ask_for_body(token);
        }
        if let Some(input) = self.held_input(token) {
            return input;
        }
        if self.conns.get(token).is_some_and(|conn| conn.noted.readable) {
            self.read_ahead(token);
        }
        self.held_input(token).unwrap_or_else(|| self.wait_for_input(token))
    }

    /// The application does not wait for input any longer: the client has time, and what it says to a WebSocket is read here.
    pub(super) fn stop_waiting(&mut self, token: Token) {
        self.now = sys::monotonic_millis();
        let (now, tick) = (self.now, self.wheel.after(self.now, 0));
        let Some(talk) = self.conns.talk(token) else { return };
        talk.line.body_due = 0;
        talk.line.resume(tick);
        if mem::replace(&mut talk.line.wants_input, false) {
            talk.line.inflow.end_wait(now);
        }
        if talk.line.websocket.is_some() {
            self.go_on_later(token);
        }
        self.set_line_deadline(token);
    }

    /// Whether more of the body follows what came with the head.
    pub(super) fn has_more_input(&mut self, token: Token) -> bool {
        let Some(talk) = self.conns.talk(token) else { return false };
        let is_all = talk.line.inflow.is_complete() && talk.line.inflow.holds_nothing();
        talk.line.told_end = is_all;
        !is_all
    }

    fn held_input(&mut self, token: Token) -> Option<Input> {
        let line = self.conns.get(token)?.talk()?.line;
        let piece = line.inflow.take();
        let is_complete = line.inflow.is_complete();
        if piece.is_some() {
            line.told_end = is_complete;
            if !is_complete && self.conns.get(token).is_some_and(|conn| conn.noted.readable) {
                // The client goes on as soon as there is room.
                self.read_ahead(token);
            }
            return Some(Input::Body(piece, !is_complete));
        }
        if is_complete && !mem::replace(&mut line.told_end, true) {
            return Some(Input::Body(None, false));
        }
        if line.inflow.failed.is_some() || line.client > Client::HalfClosed {
            if line.client == Client::Left {
                line.client = Client::KnownToLeave;
            }
            return Some(Input::Disconnect);
        }
        None
    }

    /// Why no more of the body comes, if that is so.
    pub(super) fn body_fault(&mut self, token: Token) -> Option<Error> {
        self.conns.get(token)?.talk()?.line.inflow.failed
    }

    /// A client that the application takes for gone is sent one more answer.
    pub(super) fn takes_refusal(&mut self, token: Token) {
        if let Some(talk) = self.conns.talk(token)
            && talk.line.client == Client::KnownToLeave
        {
            talk.line.client = Client::Left;
        }
    }

    fn wait_for_input(&mut self, token: Token) -> Input {
        let Some(talk) = self.conns.talk(token) else {
            return Input::Disconnect;
        };
        talk.line.wants_input = true;
        if talk.line.inflow.is_open() {
            let (started, received) = talk.line.inflow.begin_wait(self.now);
            let pause = self.config.deadlines.body_pause(started, received, self.now);
            talk.line.body_due = self.wheel.after(self.now, pause);
            talk.line.pause(self.wheel.after(self.now, 0));
            self.set_line_deadline(token);
        }
        self.watch_line(token);
        Input::Pending
    }

    /// The application asks for a body that the client sends only after `100 Continue`.
    fn ask_for_body(&mut self, token: Token) {
        let Some(talk) = self.conns.talk(token) else { return };
        talk.line.output.push(conn::Piece::Owned(CONTINUE.to_vec(), 0));
        talk.state.continue_sent();
        self.flush_line(token);
    }

    /// Whether more output may come; none if nothing can be sent. If not, the host is told when it may.
    pub(super) fn room(&mut self, token: Token) -> Option<bool> {
        let most = self.config.write_ahead;
        let talk = self.conns.talk(token)?;
        talk.line.is_stirred = false;
        let has_ended = talk.line.websocket.as_ref().is_some_and(|websocket| websocket.has_ended());
        if has_ended || !talk.line.client.takes_output() {
            return None;
        }
        let has_room = talk.line.output.waiting() <= most;
        talk.line.wants_room = !has_room;
        Some(has_room)
    }
}

impl Client {
    /// Whether anything may still be sent.
    pub(super) fn takes_output(self) -> bool {
        !matches!(self, Client::KnownToLeave | Client::Gone)
    }
}

impl PartialOrd for Client {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        (*self as u8).partial_cmp(&(*other as u8))
    }
}
