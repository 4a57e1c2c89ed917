//! The rules by name, and a walk over every reachable state.

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
    assert!(!state.is_idle() && !state.may_persist());
    state.body_complete();
    assert!(state.may_persist() && !state.response_has_begun());
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
    for head in heads() {
        let wanted = head.http11 && head.expect_continue && head.has_body;
        assert_eq!(after_head(head).wants_continue(), wanted, "{head:?}");
    }
}

#[test]
fn rule_16_a_half_close_is_answered() {
    let mut state = after_head(GET);
    state.peer_half_closed();
    assert!(state.may_persist());
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

type Step = (State, History);

/// Every transition the engine could make from `state`.
fn steps(state: State, past: History) -> Vec<Step> {
    let mut steps = reading_steps(state, past);
    steps.extend(writing_steps(state, past));
    steps.push(step(state, State::peer_half_closed, History { fin: true, ..past }));
    if state.may_read_next() {
        let history = History { fin: past.fin, ..History::default() };
        steps.push(step(state, State::next_request, history));
    }
    steps
}

fn reading_steps(state: State, past: History) -> Vec<Step> {
    let failed = || step(state, State::request_failed, History { failed: true, ..past });
    let whole = || step(state, State::body_complete, History { body_unread: false, ..past });
    let mut steps = match state.reading {
        Reading::Idle => vec![step(state, State::head_started, past)],
        Reading::Head => {
            heads().map(|head| head_step(state, head, past)).chain([failed()]).collect()
        }
        Reading::Body(_) => vec![whole(), failed()],
        Reading::Done | Reading::Failed => vec![],
    };
    if state.wants_continue() {
        steps.push(step(state, State::continue_sent, History { continued: true, ..past }));
    }
    steps
}

fn writing_steps(state: State, past: History) -> Vec<Step> {
    let start = |persistent: bool| {
        let closing = past.closing || !persistent;
        let history = History { responded: true, closing, ..past };
        step(state, |state| state.response_started(persistent), history)
    };
    let abort = || step(state, State::response_aborted, History { aborted: true, ..past });
    match (state.reading, state.writing) {
        // A head that is not understood is failed first.
        (Reading::Idle | Reading::Head, _) => vec![],
        (_, Writing::None) => vec![start(false), start(true), abort()],
        (_, Writing::Started) => vec![step(state, State::response_complete, past), abort()],
        (_, Writing::Done | Writing::Aborted) => vec![],
    }
}

fn step(mut state: State, transition: impl Fn(&mut State), history: History) -> Step {
    transition(&mut state);
    (state, history)
}

fn head_step(state: State, head: HeadFacts, past: History) -> Step {
    let (http10, closing, body_unread) = (!head.http11, !head.persistent, head.has_body);
    let history = History { http10, closing, body_unread, ..past };
    step(state, |state| state.head_complete(head), history)
}

/// All sixteen.
fn heads() -> impl Iterator<Item = HeadFacts> {
    (0..16_u8).map(|bits| HeadFacts {
        http11: bits & 1 != 0,
        persistent: bits & 2 != 0,
        expect_continue: bits & 4 != 0,
        has_body: bits & 8 != 0,
    })
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
        open.extend(steps(state, past).into_iter().filter(|&step| seen.insert(step)));
    }
    let states: HashSet<_> = seen.iter().map(|(state, _)| state).collect();
    assert_eq!(states.len(), 74, "of 112 combinations; a new transition changes this count");
}
