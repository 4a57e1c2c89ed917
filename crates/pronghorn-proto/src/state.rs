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
        self.persistence = Persistence::Close;
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

    /// Whether the request is whole.
    pub fn request_is_whole(&self) -> bool {
        self.reading == Reading::Done
    }

    /// Whether the client ended its side within a request. True only once all received bytes
    /// were given to the parser.
    pub fn request_is_cut(&self) -> bool {
        self.is_half_closed() && matches!(self.reading, Reading::Head | Reading::Body(_))
    }

    /// Whether a byte of the final response went out: an error can then only abort.
    pub fn response_has_begun(&self) -> bool {
        self.writing != Writing::None
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
mod tests {
    use std::collections::HashSet;

    use super::*;

    const GET: HeadFacts =
        HeadFacts { http11: true, persistent: true, expect_continue: false, has_body: false };
    const CLOSING: HeadFacts = HeadFacts { persistent: false, ..GET };
    const POST: HeadFacts = HeadFacts { has_body: true, ..GET };
    const EXPECTING: HeadFacts = HeadFacts { expect_continue: true, ..POST };

    /// A connection on which a request with this head was begun.
    fn after_head(head: HeadFacts) -> State {
        let mut state = State::new();
        state.head_started();
        state.head_complete(head);
        state
    }

    fn answered(mut state: State) -> State {
        state.response_started(state.may_persist());
        state.response_complete();
        state
    }

    #[test]
    fn four_bytes() {
        assert_eq!(size_of::<State>(), 4);
    }

    #[test]
    fn a_request_and_its_response_lead_back_to_idle() {
        let mut state = after_head(POST);
        assert!(!state.is_idle() && !state.may_persist() && !state.request_is_whole());
        state.body_complete();
        assert!(state.may_persist() && state.request_is_whole() && !state.response_has_begun());
        state.response_started(true);
        assert!(state.response_has_begun() && !state.may_read_next());
        state.response_complete();
        assert_eq!(state.after_response(false), Next::ReadNext);
        state.next_request();
        assert_eq!(state, State::new());
    }

    #[test]
    fn rule_8_and_17_after_a_close_nothing_more_is_read() {
        assert_eq!(answered(after_head(CLOSING)).after_response(false), Next::CloseNow);
        assert_eq!(answered(after_head(CLOSING)).after_response(true), Next::Linger);
        let mut state = after_head(GET);
        state.response_started(false);
        state.response_complete();
        assert_eq!(state.after_response(false), Next::CloseNow);
    }

    #[test]
    fn rule_9_and_18_only_an_expecting_http_1_1_request_with_a_body_gets_100() {
        for http11 in [false, true] {
            for expect_continue in [false, true] {
                for has_body in [false, true] {
                    let head = HeadFacts { http11, persistent: true, expect_continue, has_body };
                    let wanted = http11 && expect_continue && has_body;
                    assert_eq!(after_head(head).wants_continue(), wanted, "{head:?}");
                }
            }
        }
    }

    #[test]
    fn rule_16_a_half_close_is_answered() {
        let mut state = after_head(GET);
        state.peer_half_closed();
        assert!(!state.request_is_cut() && state.may_persist());
        let mut state = answered(state);
        assert_eq!(state.after_response(false), Next::CloseNow);
        assert_eq!(state.after_response(true), Next::ReadNext, "a pipelined request is lost");
        state.next_request();
        assert!(state.is_half_closed());
    }

    #[test]
    fn rule_18_100_goes_out_once_and_not_after_the_response_began() {
        let mut sent = after_head(EXPECTING);
        sent.continue_sent();
        assert!(!sent.wants_continue());
        let mut early = after_head(EXPECTING);
        early.response_started(false);
        assert!(!early.wants_continue());
        let mut unasked = after_head(EXPECTING);
        unasked.body_complete();
        assert!(!unasked.wants_continue() && unasked.may_persist());
    }

    #[test]
    fn rules_19_and_20_an_unread_body_lingers_and_is_never_a_request() {
        for head in [POST, EXPECTING] {
            for promised in [false, true] {
                let mut state = after_head(head);
                state.response_started(promised);
                state.response_complete();
                assert_eq!(state.after_response(false), Next::Linger);
                assert_eq!(state.after_response(true), Next::Linger);
            }
        }
    }

    #[test]
    fn rule_20_a_body_drained_after_the_response_lets_the_connection_go_on() {
        let mut state = after_head(POST);
        state.response_started(true);
        state.response_complete();
        state.body_complete();
        assert_eq!(state.after_response(false), Next::ReadNext);
    }

    #[test]
    fn rule_15_a_cut_request_closes_at_once_when_answered() {
        let mut state = after_head(POST);
        state.peer_half_closed();
        assert!(state.request_is_cut());
        state.request_failed();
        assert_eq!(answered(state).after_response(false), Next::CloseNow);
    }

    #[test]
    fn a_failed_request_is_answered_then_lingers() {
        let mut in_head = State::new();
        in_head.head_started();
        in_head.request_failed();
        let mut in_body = after_head(POST);
        in_body.request_failed();
        for state in [in_head, in_body] {
            assert!(!state.may_persist());
            assert_eq!(answered(state).after_response(false), Next::Linger);
        }
    }

    #[test]
    fn rules_22_and_24_a_cut_response_aborts() {
        for begun in [false, true] {
            let mut state = after_head(GET);
            if begun {
                state.response_started(true);
            }
            state.response_aborted();
            assert_eq!(state.after_response(false), Next::Abort);
            assert!(!state.may_read_next());
        }
    }

    /// What a walk did since the connection or its last request began.
    #[derive(Copy, Clone, Debug, Default, PartialEq, Eq, Hash)]
    struct History {
        http10: bool,
        closing: bool,
        body_unread: bool,
        failed: bool,
        continued: bool,
        responded: bool,
        aborted: bool,
        fin: bool,
    }

    /// Every transition the engine could make from `state`.
    fn steps(state: State, past: History) -> Vec<(State, History)> {
        let mut steps = Vec::new();
        let mut step = |transition: &dyn Fn(&mut State), history: History| {
            let mut moved = state;
            transition(&mut moved);
            steps.push((moved, history));
        };
        let begun = state.response_has_begun();
        match state.reading {
            Reading::Idle => step(&State::head_started, past),
            Reading::Head => {
                for bits in 0..16_u8 {
                    let head = HeadFacts {
                        http11: bits & 1 != 0,
                        persistent: bits & 2 != 0,
                        expect_continue: bits & 4 != 0,
                        has_body: bits & 8 != 0,
                    };
                    let history = History {
                        http10: !head.http11,
                        closing: !head.persistent,
                        body_unread: head.has_body,
                        ..past
                    };
                    step(&|state| state.head_complete(head), history);
                }
            }
            Reading::Body(_) => step(&State::body_complete, History { body_unread: false, ..past }),
            Reading::Done | Reading::Failed => {}
        }
        if matches!(state.reading, Reading::Head | Reading::Body(_)) && !begun {
            step(&State::request_failed, History { failed: true, ..past });
        }
        if state.wants_continue() {
            step(&State::continue_sent, History { continued: true, ..past });
        }
        // A response to a head not yet understood would be one to a failed request.
        if !begun && !matches!(state.reading, Reading::Idle | Reading::Head) {
            for persistent in [false, true] {
                let closing = past.closing || !persistent;
                let history = History { responded: true, closing, ..past };
                step(&|state| state.response_started(persistent), history);
            }
            step(&State::response_aborted, History { aborted: true, ..past });
        }
        if state.writing == Writing::Started {
            step(&State::response_complete, past);
            step(&State::response_aborted, History { aborted: true, ..past });
        }
        if state.may_read_next() {
            step(&State::next_request, History { fin: past.fin, ..History::default() });
        }
        step(&State::peer_half_closed, History { fin: true, ..past });
        steps
    }

    fn check(state: State, past: History) {
        if state.wants_continue() {
            assert!(!past.http10 && !past.responded && !past.aborted && !past.continued);
            assert!(past.body_unread && !past.failed && !past.fin);
        }
        let spoilt = past.body_unread || past.failed || past.closing || past.aborted;
        assert!(!(state.may_persist() && spoilt));
        assert!(!(state.may_read_next() && spoilt));
        assert_eq!(state.is_half_closed(), past.fin);
        if !matches!(state.writing, Writing::Done | Writing::Aborted) {
            return;
        }
        for buffered in [false, true] {
            let next = state.after_response(buffered);
            assert_eq!(next == Next::Abort, past.aborted);
            let more = !past.fin || buffered;
            assert_eq!(next == Next::ReadNext, !spoilt && more);
            let unread = past.body_unread || past.failed || buffered;
            let lingers = !past.aborted && spoilt && unread && !past.fin;
            assert_eq!(next == Next::Linger, lingers);
        }
    }

    #[test]
    fn every_reachable_state_keeps_the_invariants() {
        let start = (State::new(), History::default());
        let mut seen = HashSet::from([start]);
        let mut open = vec![start];
        while let Some((state, past)) = open.pop() {
            check(state, past);
            for next in steps(state, past) {
                if seen.insert(next) {
                    open.push(next);
                }
            }
        }
        let states: HashSet<_> = seen.iter().map(|(state, _)| state).collect();
        assert!((50..=160).contains(&states.len()), "{} states are reachable", states.len());
    }
}
