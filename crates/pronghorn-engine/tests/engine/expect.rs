//! `Expect: 100-continue`: the client is told to go on when the handler reads, and not before.

use std::sync::{Arc, Mutex};

use pronghorn_engine::{BodyError, Config, Deadlines, Exchange};
use pronghorn_proto::error::Error;

use crate::client::{chunked, get, pattern, post};
use crate::server::{Running, answer, answer_target, echo, target, threads};

const EXPECTING: &str = "Content-Length: 5\r\nExpect: 100-continue";

/// Reads the body of requests to `/echo`, and only of those.
fn read_if_echo(exchange: &mut Exchange<'_>) {
    if target(exchange) == "/echo" { echo(exchange) } else { answer_target(exchange) }
}

#[test]
fn the_body_is_asked_for_when_the_handler_reads() {
    for count in [1, 8] {
        let server = Running::start(threads(count), read_if_echo);
        let mut client = server.connect();
        for _ in 0..3 {
            client.send(post(EXPECTING));
            assert_eq!(client.head(), "HTTP/1.1 100 Continue\r\n\r\n");
            // While the handler waits for this body others are served: by other threads, or by the only one as far as it can.
            let mut other = server.connect();
            other.send(get("/other"));
            server.connect().expect_refusal();
            client.send("hel");
            if count > 1 {
                assert_eq!(other.response().text(), "/other");
            }
            client.send("lo");
            let response = client.response();
            assert!(response.text() == "hello" && !response.closes(), "{response:?}");
            if count == 1 {
                assert_eq!(other.response().text(), "/other");
            }
        }
    }
}

#[test]
fn a_chunked_body_with_the_next_request_behind_it_is_read_to_its_end_only() {
    for count in [1, 8] {
        let server = Running::start(threads(count), read_if_echo);
        let mut client = server.connect();
        client.send(post("Transfer-Encoding: chunked\r\nExpect: 100-continue"));
        assert_eq!(client.head(), "HTTP/1.1 100 Continue\r\n\r\n");
        let body = pattern(200_000);
        client.send([&chunked(&body, 7000)[..], get("/next").as_bytes()].concat());
        assert!(client.response().body == body);
        assert_eq!(client.response().text(), "/next");
    }
}

#[test]
fn a_handler_that_does_not_read_answers_without_100() {
    for count in [1, 8] {
        let server = Running::start(threads(count), answer_target);
        let mut client = server.connect();
        client.send(post(EXPECTING));
        let response = client.response();
        assert_eq!((response.status, response.text()), (200, "/echo".to_owned()));
        assert!(response.closes());
        // A body sent all the same is no request.
        client.send("GET /");
        client.half_close();
        client.expect_end();
    }
}

#[test]
fn a_body_that_comes_unasked_needs_no_100() {
    let server = Running::start(Config::default(), echo);
    let mut client = server.connect();
    client.send(post(EXPECTING) + "hello");
    assert_eq!(client.response().text(), "hello");
}

#[test]
fn a_body_that_is_cut_or_late_or_malformed_is_an_error_for_the_handler() {
    for count in [1, 8] {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let log = seen.clone();
        let body = std::time::Duration::from_millis(300);
        let deadlines = Deadlines { body, ..Deadlines::default() };
        let config = Config { deadlines, ..threads(count) };
        let server = Running::start(config, move |exchange| match exchange.receive_body() {
            Err(BodyError::Refused(error)) => log.lock().expect("no panic").push(error),
            other => answer(exchange, format!("{other:?}")),
        });
        let cases = [("hel", true, 400), ("hel", false, 408), ("ZZ\r\n", false, 400)];
        for (part, ends, status) in cases {
            let mut client = server.connect();
            let framing =
                if part == "hel" { "Content-Length: 5" } else { "Transfer-Encoding: chunked" };
            client.send(post(&format!("{framing}\r\nExpect: 100-continue")));
            client.head();
            client.send(part);
            if ends {
                client.half_close();
            }
            let response = client.response();
            assert!(response.status == status && response.closes(), "{response:?}");
        }
        let seen = seen.lock().expect("no panic");
        assert!(matches!(seen[..2], [Error::BodyTruncated, Error::BodyTimeout]), "{seen:?}");
        assert_eq!(seen.len(), 3);
    }
}
