//! Reading a connection: from bytes to a complete request.

use std::io;
use std::mem;

use pronghorn_proto::error::Error;
use pronghorn_proto::framing::Framing;
use pronghorn_proto::state::HeadFacts;

use super::{Phase, Token, Watched};
use crate::body::{BodyError, Intake, Received, Storage};
use crate::event_loop::{EventLoop, Job};
use crate::request::{BodyState, LEAST_LENT, Request};
use crate::sys::{self, Interest, Ready};

/// At most this many reads of one connection in a turn.
const READS_A_TURN: usize = 16;

/// What a read came to.
pub(crate) enum Step {
    /// Nothing more is there: the selector tells.
    Wait,
    /// There may be more.
    More,
    /// The connection is past reading: queued, refused or closed.
    Left,
}

impl EventLoop {
    /// The selector reported something for a connection.
    pub(crate) fn on_ready(&mut self, token: Token, ready: &Ready) {
        let Some(conn) = self.conns.get(token) else { return };
        conn.noted.readable |= ready.readable;
        conn.noted.ended |= ready.ended;
        match conn.phase {
            // The thread that runs the request has the socket; this is looked at when it comes back.
            Phase::Running => {}
            Phase::Writing(..) if ready.writable => self.resume_writing(token),
            Phase::Writing(..) => {}
            Phase::Lingering(_) => self.discard(token),
            Phase::Dialogue(_) => self.on_line_ready(token, ready),
            Phase::Idle | Phase::Head(_) | Phase::Body(_) => self.read(token),
        }
    }

    /// Reads a connection until its request is complete or its socket is empty.
    pub(crate) fn read(&mut self, token: Token) {
        for _ in 0..READS_A_TURN {
            match self.read_once(token) {
                Step::Wait => return self.watch(token, Watched::Read),
                Step::More => {}
                Step::Left => return,
            }
        }
        self.go_on_later(token);
    }

    /// Goes on with a connection that had more to read or write than one turn takes.
    pub(crate) fn proceed(&mut self, token: Token) {
        let Some(conn) = self.conns.get(token) else { return };
        match conn.phase {
            Phase::Lingering(_) => self.discard(token),
            Phase::Head(_) if !conn.announces => self.parse_again(token),
            Phase::Idle | Phase::Head(_) | Phase::Body(_) => self.read(token),
            Phase::Writing(..) => self.resume_writing(token),
            Phase::Dialogue(_) => self.proceed_with_line(token),
            // Its request is complete by now: what more there is to read stays noted.
            Phase::Running => {}
        }
    }

    pub(crate) fn go_on_later(&mut self, token: Token) {
        self.again.push(token);
        self.wake_leader = true;
        self.end_wait_of_host();
    }

    /// Makes the selector watch the connection, once.
    pub(crate) fn watch(&mut self, token: Token, wanted: Watched) {
        let Some(conn) = self.conns.get(token) else { return };
        let Some(socket) = &conn.socket else { return };
        let added = match (conn.watched, wanted) {
            (Watched::Nothing, Watched::Read) => {
                self.selector.add(socket, token.to_u64(), Interest::Read)
            }
            (Watched::Nothing, _) => self.selector.add(socket, token.to_u64(), Interest::ReadWrite),
            (Watched::Read, Watched::ReadWrite) => {
                self.selector.modify(socket, token.to_u64(), Interest::ReadWrite)
            }
            _ => return,
        };
        match added {
            Ok(()) if conn.watched == Watched::Nothing => {
                conn.watched = wanted;
                let listener = usize::from(conn.listener);
                self.let_others_accept(listener);
            }
            Ok(()) => conn.watched = wanted,
            Err(error) => {
                log::warn!("a connection is closed as it cannot be watched: {error}");
                self.close(token);
            }
        }
    }

    /// Goes on with a request of which bytes are there already.
    pub(super) fn continue_reading(&mut self, token: Token, request: Box<Request>) {
        self.head_started(token);
        match self.parse(token, request) {
            Step::Left => {}
            Step::Wait | Step::More => self.read(token),
        }
    }

    /// Goes on with a part of a head, which may be a whole one.
    fn parse_again(&mut self, token: Token) {
        let Some(conn) = self.conns.get(token) else { return };
        match mem::replace(&mut conn.phase, Phase::Idle) {
            Phase::Head(request) => match self.parse(token, request) {
                Step::Left => {}
                Step::Wait | Step::More => self.read(token),
            },
            other => conn.phase = other,
        }
    }

    fn read_once(&mut self, token: Token) -> Step {
        let Some(conn) = self.conns.get(token) else { return Step::Left };
        let was_noted = mem::replace(&mut conn.noted.readable, false);
        match mem::replace(&mut conn.phase, Phase::Idle) {
            Phase::Idle => {
                let Some(request) = self.pool.take() else { return self.no_memory_to_read(token) };
                self.read_head(token, request)
            }
            Phase::Head(request) => self.read_head(token, request),
            Phase::Body(request) => self.read_body(token, request),
            other => {
                conn.phase = other;
                conn.noted.readable = was_noted;
                Step::Left
            }
        }
    }

    fn read_head(&mut self, token: Token, mut request: Box<Request>) -> Step {
        let Some(conn) = self.conns.get(token) else { return Step::Left };
        let Some(socket) = &conn.socket else { return Step::Left };
        // Bounded: the scanner refuses a head over its limits.
        if request.buffer.len() == request.buffer.capacity() && !request.grow_buffer() {
            self.refuse_for_memory(token, request);
            return Step::Left;
        }
        let room = request.buffer.capacity() - request.buffer.len();
        match sys::recv(socket, &mut request.buffer, room) {
            Ok(0) => self.ended_in_head(token, request),
            Ok(read) => {
                conn.noted.readable = read == room || conn.noted.ended;
                if let Some(metrics) = &self.config.metrics {
                    metrics.received(read);
                }
                if conn.announces {
                    return self.read_announcement(token, request);
                }
                if request.buffer.len() == read {
                    self.head_started(token);
                }
                self.parse(token, request)
            }
            Err(error) => self.head_not_read(token, request, &error),
        }
    }

    fn no_memory_to_read(&mut self, token: Token) -> Step {
        log::warn!("a connection is closed as there is no memory to read it");
        self.close(token);
        Step::Left
    }

    fn head_not_read(&mut self, token: Token, request: Box<Request>, error: &io::Error) -> Step {
        let Some(conn) = self.conns.get(token) else { return Step::Left };
        if error.kind() != io::ErrorKind::WouldBlock {
            self.pool.put(request);
            self.close(token);
            return Step::Left;
        }
        if request.buffer.is_empty() {
            self.pool.put(request);
        } else {
            conn.phase = Phase::Head(request);
        }
        Step::Wait
    }

    /// The peer ended its side with no complete head: there is nothing to answer.
    fn ended_in_head(&mut self, token: Token, request: Box<Request>) -> Step {
        self.pool.put(request);
        self.close(token);
        Step::Left
    }

    pub(super) fn head_started(&mut self, token: Token) {
        let Some(conn) = self.conns.get(token) else { return };
        conn.state.head_started();
        // The time for the first head runs from the connection's opening.
        if conn.answered_at > 0 {
            self.set_deadline(token, self.config.deadlines.head);
        }
    }

    pub(super) fn parse(&mut self, token: Token, mut request: Box<Request>) -> Step {
        let limits = &self.config.limits;
        let Request { buffer, scanner, head, .. } = &mut *request;
        let parsed = match scanner.advance(buffer, limits, head) {
            Ok(None) => return self.head_incomplete(token, request),
            Ok(Some(length)) => {
                request.head_length = length;
                request.consumed = length;
                request.head.interpret(&request.buffer, limits)
            }
            Err(error) => Err(error),
        };
        match parsed {
            Ok(()) => self.head_complete(token, request),
            Err(error) => self.refused(token, request, error),
        }
    }

    pub(super) fn head_incomplete(&mut self, token: Token, request: Box<Request>) -> Step {
        let Some(conn) = self.conns.get(token) else { return Step::Left };
        conn.phase = Phase::Head(request);
        if conn.noted.readable { Step::More } else { Step::Wait }
    }

    pub(crate) fn refused(&mut self, token: Token, request: Box<Request>, error: Error) -> Step {
        self.refuse(token, request, error);
        Step::Left
    }

    fn head_complete(&mut self, token: Token, mut request: Box<Request>) -> Step {
        self.identify(token, &mut request);
        let handshake = match self.handshake(&request) {
            Ok(handshake) => handshake,
            Err(error) => return self.refused(token, request, error),
        };
        let Some(conn) = self.conns.get(token) else { return Step::Left };
        conn.state.head_complete(facts(&request));
        if let Some(asked) = self.asked(token, &request) {
            self.answer_itself(token, request, asked);
            return Step::Left;
        }
        if self.is_hosted() && !self.is_crowded() {
            return self.begin_dialogue(token, request, handshake);
        }
        let Some(conn) = self.conns.get(token) else { return Step::Left };
        let there = request.buffer.len() - request.head_length;
        match request.head.framing {
            Framing::None | Framing::Length(0) => self.queue(token, request),
            Framing::Length(length) if length <= there as u64 => {
                conn.state.body_complete();
                request.consumed += length as usize;
                request.body = BodyState::InBuffer;
                self.queue(token, request)
            }
            framing => self.begin_body(token, request, framing, there > 0),
        }
    }

    fn begin_body(
        &mut self,
        token: Token,
        mut request: Box<Request>,
        framing: Framing,
        arriving: bool,
    ) -> Step {
        let storage = storage(&self.config);
        let (handler, attached) = (&self.handler, self.attached);
        let lend = |length: usize| match attached && length as u64 >= LEAST_LENT {
            true => handler.body_buffer(length),
            false => None,
        };
        let intake = match Intake::new(framing, &self.config.limits, &storage, self.now, lend) {
            Ok(intake) => Box::new(intake),
            Err(error) => return self.body_failed(token, request, error),
        };
        let Some(conn) = self.conns.get(token) else { return Step::Left };
        // A client that sends its body unasked does not wait for 100 (RFC 9110 section 10.1.1).
        if conn.state.wants_continue() && !arriving {
            request.body = BodyState::Expected(intake);
            return self.queue(token, request);
        }
        self.body_from_buffer(token, request, intake)
    }

    fn body_from_buffer(
        &mut self,
        token: Token,
        mut request: Box<Request>,
        mut intake: Box<Intake>,
    ) -> Step {
        let fed = intake.feed(&request.buffer[request.head_length..], &storage(&self.config));
        match fed {
            Err(error) => self.body_failed(token, request, error),
            Ok((consumed, true)) => {
                request.consumed += consumed;
                self.body_complete(token, request, *intake)
            }
            Ok((consumed, false)) => {
                request.consumed += consumed;
                self.body_incomplete(token, request, intake)
            }
        }
    }

    fn read_body(&mut self, token: Token, mut request: Box<Request>) -> Step {
        let Some(conn) = self.conns.get(token) else { return Step::Left };
        let Some(socket) = &conn.socket else { return Step::Left };
        let BodyState::Arriving(mut intake) = mem::replace(&mut request.body, BodyState::None)
        else {
            return Step::Left;
        };
        match intake.recv(socket, &mut self.scratch, &storage(&self.config)) {
            Ok(Received { read: 0, .. }) => {
                conn.state.peer_half_closed();
                self.refused(token, request, Error::BodyTruncated)
            }
            Ok(received) => {
                if let Some(metrics) = &self.config.metrics {
                    metrics.received(received.read);
                }
                conn.noted.readable = !received.drained || conn.noted.ended;
                if !received.complete {
                    return self.body_incomplete(token, request, intake);
                }
                // What was read beyond the body is the next request's.
                request.buffer.append(&mut self.scratch);
                self.body_complete(token, request, *intake)
            }
            Err(BodyError::Connection(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                self.body_incomplete(token, request, intake)
            }
            Err(error) => self.body_failed(token, request, error),
        }
    }

    fn body_incomplete(
        &mut self,
        token: Token,
        mut request: Box<Request>,
        intake: Box<Intake>,
    ) -> Step {
        self.set_body_deadline(token, intake.started, intake.received());
        let Some(conn) = self.conns.get(token) else { return Step::Left };
        request.body = BodyState::Arriving(intake);
        conn.phase = Phase::Body(request);
        if conn.noted.readable { Step::More } else { Step::Wait }
    }

    fn body_complete(&mut self, token: Token, mut request: Box<Request>, intake: Intake) -> Step {
        let Some(conn) = self.conns.get(token) else { return Step::Left };
        conn.state.body_complete();
        request.body = BodyState::Complete(intake.finish());
        self.queue(token, request)
    }

    fn body_failed(&mut self, token: Token, request: Box<Request>, error: BodyError) -> Step {
        match error {
            BodyError::Refused(error) => self.refuse(token, request, error),
            BodyError::Storage(error) => self.refuse_for_storage(token, request, &error),
            BodyError::Connection(_) => {
                self.pool.put(request);
                self.close(token);
            }
        }
        Step::Left
    }

    fn queue(&mut self, token: Token, mut request: Box<Request>) -> Step {
        let Some(conn) = self.conns.get(token) else { return Step::Left };
        let Some(socket) = conn.socket.take() else { return Step::Left };
        conn.phase = Phase::Running;
        conn.deadline = 0;
        request.queued_at = self.now;
        request.answered_at = conn.answered_at;
        if self.config.timed {
            request.timing.queued = sys::monotonic_micros();
        }
        let job = Job {
            token,
            socket,
            state: conn.state,
            request,
            peer: conn.peer,
            listener: conn.listener,
        };
        // With a host a request comes here only if it was crowded when its head came: nobody there takes what is ready.
        let crowded = self.is_hosted() || self.is_crowded();
        self.in_flight += 1;
        if crowded {
            self.excess.push_back(job);
        } else {
            self.ready.push(job);
        }
        Step::Left
    }
}

fn facts(request: &Request) -> HeadFacts {
    let head = &request.head;
    HeadFacts {
        http11: head.version == pronghorn_proto::head::Version::Http11,
        persistent: head.persistent,
        expect_continue: head.expect_continue,
        has_body: !matches!(head.framing, Framing::None | Framing::Length(0)),
    }
}

/// Where bodies are kept.
pub(crate) fn storage(config: &crate::config::Config) -> Storage<'_> {
    Storage { memory: config.body_buffer, directory: &config.temporary_directory }
}
