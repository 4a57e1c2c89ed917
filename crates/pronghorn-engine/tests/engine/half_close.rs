//! A client that ends its side is answered what it asked, and its end is noticed at once.

use std::time::Duration;

use pronghorn_engine::{Config, Deadlines};

use crate::client::{get, post};
use crate::server::{Running, answer_target, echo};

#[test]
fn a_half_close_with_the_request_is_answered_and_ends_the_connection() {
    let server = Running::start(patient(), answer_target);
    for kept in [false, true] {
        let mut client = server.connect();
        if kept {
            assert_eq!(client.get("/first").text(), "/first");
        }
        client.send(get("/last"));
        client.half_close();
        assert_eq!(client.response().text(), "/last");
        client.expect_end();
    }
}

#[test]
fn an_end_that_comes_with_a_part_of_a_request_is_noticed_at_once() {
    let server = Running::start(patient(), echo);
    for kept in [false, true] {
        let mut client = server.connect();
        if kept {
            client.get("/first");
        }
        client.send("GET /part HT");
        client.half_close();
        client.expect_end();

        let mut client = server.connect();
        if kept {
            client.get("/first");
        }
        client.send(post("Content-Length: 100") + "only a part");
        client.half_close();
        assert_eq!(client.response().status, 400);
        client.expect_end();
    }
}

/// Deadlines so long that only an event can end a wait.
fn patient() -> Config {
    let long = Duration::from_secs(600);
    let deadlines = Deadlines { head: long, body: long, keep_alive: long, ..Deadlines::default() };
    Config { deadlines, ..Config::default() }
}
