//! The state of one HTTP/1 connection: reading x writing x persistence x peer, with Expect as a
//! part of reading. The only truth on whether a `100 Continue` may go out, whether another
//! request may be read, and how the connection ends.
//!
//! A request moves it so: [`head_started`](State::head_started),
//! [`head_complete`](State::head_complete), perhaps [`continue_sent`](State::continue_sent),
//! [`body_complete`](State::body_complete); its response so:
//! [`response_started`](State::response_started), then
//! [`response_complete`](State::response_complete) or
//! [`response_aborted`](State::response_aborted). [`after_response`](State::after_response) says
//! what comes then, and [`next_request`](State::next_request) begins anew.

/// The state of a connection, four bytes. Transitions that cannot happen are asserted in
/// builds with debug assertions.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    reading: Reading,
    writing: Writing,
    persistence: Persistence,
    peer: Peer,
}

/// What the head of a request says about the connection.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct HeadFacts {
    /// The request is HTTP/1.1 or a later minor version.
    pub http11: bool,
    /// The client would like the connection to persist.
    pub persistent: bool,
    /// The request has `Expect: 100-continue`.
    pub expect_continue: bool,
    /// A body follows: chunked, or a Content-Length above 0.
    pub has_body: bool,
}

/// What becomes of the connection after a response.
#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
pub enum Next {
    /// Call [`State::next_request`] and read the next request, buffered bytes first.
    ReadNext,
    /// Close; nothing can be lost by it.
    CloseNow,
    /// Shut down writing, then discard what comes within bounds: closing over unread bytes would
    /// send a RST that can destroy the response on its way (RFC 9112 section 9.6).
    Linger,
    /// Close so that the client sees an error, as the response is cut.
    Abort,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
enum Reading {
    /// Between requests: no byte of one has come.
    Idle,
    Head,
    Body(Expect),
    /// The request is whole.
    Done,
    /// The request was refused or is malformed: no later byte is parsed.
    Failed,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
enum Expect {
    None,
    /// The client waits for `100 Continue`.
    Waiting,
    /// It was sent.
    Answered,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
enum Writing {
    /// No byte of the final response is sent.
    None,
    Started,
    Done,
    Aborted,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
enum Persistence {
    KeepAlive,
    Close,
}

#[derive(Copy, Clone, Debug, PartialEq, Eq, Hash)]
enum Peer {
    Open,
    /// Its FIN was read: no byte follows those received.
    HalfClosed,
}

/// Transitions.
impl State {
    /// A new connection: nothing read, nothing written.
    pub const fn new() -> Self {
        Self {
            reading: Reading::Idle,
            writing: Writing::None,
            persistence: Persistence::KeepAlive,
            peer: Peer::Open,
        }
    }

    /// The first byte of a request came.
    pub fn head_started(&mut self) {
        debug_assert!(self.reading == Reading::Idle, "a head starts within a request: {self:?}");
        self.reading = Reading::Head;
    }

    /// The head was parsed. Without a body the request is whole. An expectation counts in
    /// HTTP/1.1 with a body only (RFC 9110 section 10.1.1).
    pub fn head_complete(&mut self, head: HeadFacts) {
        debug_assert!(self.reading == Reading::Head, "no head was being read: {self:?}");
        self.reading = match head {
            HeadFacts { has_body: false, .. } => Reading::Done,
            HeadFacts { http11: true, expect_continue: true, .. } => Reading::Body(Expect::Waiting),
            _ => Reading::Body(Expect::None),
        };
        if !head.persistent {
            self.persistence = Persistence::Close;
        }
    }

    /// `100 Continue` was handed to the socket; ask [`wants_continue`](Self::wants_continue) before.
    pub fn continue_sent(&mut self) {
        debug_assert!(self.wants_continue(), "the client does not wait for 100: {self:?}");
        self.reading = Reading::Body(Expect::Answered);
    }

    /// The last byte of the body came.
    pub fn body_complete(&mut self) {
        debug_assert!(matches!(self.reading, Reading::Body(_)), "no body was due: {self:?}");
        self.reading = Reading::Done;
    }

    /// The request is malformed, too large or too late: its end cannot be known, so nothing
    /// behind it is parsed and the connection closes after the response.
    pub fn request_failed(&mut self) {
        debug_assert!(
            matches!(self.reading, Reading::Head | Reading::Body(_)),
            "no request was being read: {self:?}"
        );
        self.reading = Reading::Failed;
    }

    /// The first byte of the final response goes out. `persistent` is what its head tells the
    /// client. A promise beyond [`may_persist`](Self::may_persist) is kept only if the rest of the
    /// body still comes.
    pub fn response_started(&mut self, persistent: bool) {
        debug_assert!(self.writing == Writing::None, "a second response: {self:?}");
        debug_assert!(self.reading != Reading::Idle, "a response without a request: {self:?}");
        self.writing = Writing::Started;
        if !persistent {
            self.persistence = Persistence::Close;
        }
    }

    /// The last byte of the response was handed to the socket.
    pub fn response_complete(&mut self) {
        debug_assert!(self.writing == Writing::Started, "no response is under way: {self:?}");
        self.writing = Writing::Done;
    }

    /// The response cannot be finished, or not even begun: the application failed, its body is
    /// short, the client is gone.
    pub fn response_aborted(&mut self) {
        debug_assert!(
            matches!(self.writing, Writing::None | Writing::Started),
            "the response is over: {self:?}"
        );
        self.writing = Writing::Aborted;
        self.persistence = Persistence::Close;
    }

    /// A FIN was read. Not a disconnect: the client may still read (RFC 9112 section 9.6).
    pub fn peer_half_closed(&mut self) {
        self.peer = Peer::HalfClosed;
    }

    /// Begins anew after [`Next::ReadNext`].
    pub fn next_request(&mut self) {
        debug_assert!(self.may_read_next(), "this connection serves no other request: {self:?}");
        *self = Self { peer: self.peer, ..Self::new() };
    }
}

/// Questions.
impl State {
    /// Whether `100 Continue` is to be sent now that the application reads: the client waits for
    /// it and no response has begun.
    pub fn wants_continue(&self) -> bool {
        self.reading == Reading::Body(Expect::Waiting)
            && self.writing == Writing::None
            && self.peer == Peer::Open
    }

    /// Whether the response may promise that the connection persists: the request is whole and
    /// wants it. This is `RequestFacts::persistent` of the response's plan.
    pub fn may_persist(&self) -> bool {
        self.reading == Reading::Done && self.persistence == Persistence::KeepAlive
    }

    /// Whether the request is whole, answered in full, and another may follow.
    pub fn may_read_next(&self) -> bool {
        self.may_persist() && self.writing == Writing::Done
    }

    /// Whether the connection is between requests: it can be closed without losing one.
    pub fn is_idle(&self) -> bool {
        self.reading == Reading::Idle
    }

    /// Whether a byte of the final response went out: an error can then only abort.
    pub fn response_has_begun(&self) -> bool {
        self.writing != Writing::None
    }

    /// Whether the response has begun and not ended.
    pub fn response_is_under_way(&self) -> bool {
        self.writing == Writing::Started
    }

    /// Whether the client ended its side.
    pub fn is_half_closed(&self) -> bool {
        self.peer == Peer::HalfClosed
    }

    /// What comes after the response. `buffered` says whether bytes beyond this request were
    /// received: pipelined requests if the connection persists, a surplus if not.
    pub fn after_response(&self, buffered: bool) -> Next {
        debug_assert!(
            matches!(self.writing, Writing::Done | Writing::Aborted),
            "the response is not over: {self:?}"
        );
        match (self.writing, self.peer) {
            (Writing::Aborted, _) => Next::Abort,
            (_, Peer::HalfClosed) if self.may_read_next() && buffered => Next::ReadNext,
            // All the client sent was read: no RST can follow.
            (_, Peer::HalfClosed) => Next::CloseNow,
            (_, Peer::Open) if self.may_read_next() => Next::ReadNext,
            (_, Peer::Open) if self.reading == Reading::Done && !buffered => Next::CloseNow,
            (_, Peer::Open) => Next::Linger,
        }
    }
}

impl Default for State {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests;
