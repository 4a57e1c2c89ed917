//! Every deadline ends what it is for, and nothing else.

use std::time::{Duration, Instant};

use pronghorn_engine::{Config, Deadlines};

use crate::client::{get, post};
use crate::server::{Running, answer, answer_target, echo};

const SHORT: Duration = Duration::from_millis(300);
const LONG: Duration = Duration::from_secs(600);

/// Deadlines that never come but for those that `change` sets.
fn only(change: impl FnOnce(&mut Deadlines)) -> Config {
    let mut deadlines = Deadlines {
        head: LONG,
        body: LONG,
        body_rate: 0,
        keep_alive: LONG,
        write: LONG,
        linger: LONG,
        graceful: LONG,
        ..Deadlines::default()
    };
    change(&mut deadlines);
    Config { deadlines, ..Config::default() }
}

#[test]
fn a_connection_that_says_nothing_is_closed_at_the_head_deadline() {
    let server = Running::start(only(|deadlines| deadlines.head = SHORT), answer_target);
    let begun = Instant::now();
    server.connect().expect_end();
    assert!(begun.elapsed() >= SHORT);
}

#[test]
fn a_head_that_comes_too_slowly_is_refused_on_every_request() {
    let server = Running::start(only(|deadlines| deadlines.head = SHORT), answer_target);
    for kept in [false, true] {
        let mut client = server.connect();
        if kept {
            assert_eq!(client.get("/first").status, 200);
        }
        client.send("GET / HTTP/1.1\r\n");
        let response = client.response();
        assert!(response.status == 408 && response.closes(), "{response:?}");
    }
}

#[test]
fn bytes_now_and_then_do_not_put_the_head_deadline_off() {
    let server = Running::start(only(|deadlines| deadlines.head = SHORT), answer_target);
    let mut client = server.connect();
    client.stream.set_read_timeout(Some(Duration::from_millis(50))).expect("a timeout");
    client.send("GET / HTTP/1.1\r\nX: ");
    let begun = Instant::now();
    let mut byte = [0];
    // Stops at the refusal, or fails by going on for ever.
    while std::io::Read::read(&mut client.stream, &mut byte).is_err() {
        assert!(begun.elapsed() < crate::client::DEADLINE);
        client.send("x");
    }
    assert_eq!(byte, *b"H");
}

#[test]
fn a_pause_in_a_body_is_refused_at_the_body_deadline() {
    let server = Running::start(only(|deadlines| deadlines.body = SHORT), echo);
    for framing in ["Content-Length: 100000", "Transfer-Encoding: chunked"] {
        let mut client = server.connect();
        client.send(post(framing) + "3\r\n");
        let response = client.response();
        assert!(response.status == 408 && response.closes(), "{response:?}");
    }
}

#[test]
fn a_body_below_the_least_rate_is_refused() {
    let config = only(|deadlines| {
        deadlines.body = SHORT;
        deadlines.body_rate = 1_000_000;
    });
    let server = Running::start(config, echo);
    let mut client = server.connect();
    client.stream.set_read_timeout(Some(Duration::from_millis(20))).expect("a timeout");
    client.send(post("Content-Length: 100000"));
    let begun = Instant::now();
    let mut start = [0; 12];
    // Never a pause as long as the deadline, and never an end.
    while std::io::Read::read(&mut client.stream, &mut start).is_err() {
        assert!(begun.elapsed() < crate::client::DEADLINE);
        client.send("x");
    }
    assert_eq!(start, *b"HTTP/1.1 408");
}

#[test]
fn an_idle_connection_is_closed_at_the_keep_alive_deadline() {
    let server = Running::start(only(|deadlines| deadlines.keep_alive = SHORT), answer_target);
    let mut client = server.connect();
    for _ in 0..3 {
        assert_eq!(client.get("/").status, 200);
    }
    let begun = Instant::now();
    client.expect_end();
    assert!(begun.elapsed() >= SHORT / 2);
}

#[test]
fn a_client_that_goes_on_sending_after_a_refusal_is_cut_at_the_linger_deadline() {
    let server = Running::start(only(|deadlines| deadlines.linger = SHORT), answer_target);
    let mut client = server.connect();
    client.send("nonsense\r\n\r\n");
    assert_eq!(client.response().status, 400);
    client.expect_end();
    client.send_until_closed();
}

#[test]
fn a_client_that_does_not_read_is_cut_at_the_write_deadline() {
    let config = only(|deadlines| deadlines.write = SHORT);
    let server = Running::start(config, |exchange| answer(exchange, vec![b'x'; 32 << 20]));
    let mut client = server.connect();
    client.send(get("/"));
    assert_eq!(server.connect().get("/").body.len(), 32 << 20);
    client.send_until_closed();
}

#[test]
fn a_deadline_set_by_a_thread_that_leads_no_more_is_kept() {
    let server = Running::start(only(|deadlines| deadlines.keep_alive = SHORT), |exchange| {
        // Long enough that another thread takes the lead, and waits for events, before this one is done.
        std::thread::sleep(Duration::from_millis(200));
        answer_target(exchange);
    });
    let mut client = server.connect();
    for _ in 0..3 {
        assert_eq!(client.get("/").status, 200);
    }
    client.expect_end();
}
