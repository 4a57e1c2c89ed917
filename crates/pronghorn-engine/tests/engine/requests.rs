//! Requests on one connection: one after the other, pipelined, cut anywhere.

use std::io::{Read, Write};
use std::net::Shutdown;
use std::thread;
use std::time::{Duration, Instant};

use pronghorn_engine::Config;

use crate::client::{chunked, get, pattern, post};
use crate::server::{Running, answer_target, body, echo, target, threads};

#[test]
fn a_kept_connection_serves_one_request_after_the_other() {
    let server = Running::start(Config::default(), answer_target);
    let mut client = server.connect();
    for number in 0..100 {
        let response = client.get(&format!("/{number}"));
        assert_eq!((response.status, response.text()), (200, format!("/{number}")));
        assert!(!response.closes() && response.field("Date").is_some());
    }
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    for count in [1, 8] {
        let server = Running::start(threads(count), |exchange| {
            let mut answer = target(exchange).into_bytes();
            answer.extend(body(exchange).expect("a body"));
            crate::server::answer(exchange, answer);
        });
        let mut client = server.connect();
        let mut writer = client.writer();
        let bodies: Vec<_> = (0..300).map(|number| pattern(number * 37 % 6000)).collect();
        let sent = bodies.clone();
        let sending = thread::spawn(move || {
            for (number, body) in sent.iter().enumerate() {
                let mut request = format!("POST /{number} HTTP/1.1\r\nHost: a\r\n").into_bytes();
                if number % 3 == 0 {
                    request.extend(b"Transfer-Encoding: chunked\r\n\r\n");
                    request.extend(chunked(body, 1000));
                } else {
                    request.extend(format!("Content-Length: {}\r\n\r\n", body.len()).bytes());
                    request.extend(body);
                }
                writer.write_all(&request).expect("the server reads");
            }
        });
        for (number, body) in bodies.iter().enumerate() {
            let response = client.response();
            let expected = [format!("/{number}").as_bytes(), body].concat();
            assert!(response.body == expected, "request {number} of {count} threads");
        }
        sending.join().expect("all was sent");
    }
}

#[test]
fn a_request_may_come_byte_by_byte() {
    let server = Running::start(Config::default(), echo);
    let mut client = server.connect();
    let body = chunked(b"hello, world", 5);
    let request = [post("Transfer-Encoding: chunked").as_bytes(), &body].concat();
    for _ in 0..3 {
        for byte in &request {
            client.send([*byte]);
        }
        assert_eq!(client.response().text(), "hello, world");
    }
}

#[test]
fn what_follows_a_closing_request_gets_nothing() {
    let server = Running::start(Config::default(), answer_target);
    let mut client = server.connect();
    client.send("GET /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".to_owned() + &get("/b"));
    let response = client.response();
    assert!(response.closes());
    assert_eq!(response.text(), "/a");
    client.expect_end();
}

#[test]
fn bytes_behind_a_malformed_body_reach_no_other_connection() {
    let server = Running::start(Config::default(), answer_target);
    let mut attacker = server.connect();
    // Bodies of these sizes do not fit behind their heads in the read buffer.
    let chunk = format!("2000\r\n{}\r\n", "a".repeat(0x2000));
    attacker.send(post("Transfer-Encoding: chunked") + &chunk + "ZZ\r\n" + &get("/injected"));
    assert_eq!(attacker.response().status, 400);

    let mut victim = server.connect();
    victim.send(post("Content-Length: 50000") + &"b".repeat(50_000));
    assert_eq!(victim.response().text(), "/echo");
    assert_eq!(victim.get("/after").text(), "/after");
}

#[test]
fn a_client_that_never_stops_pipelining_keeps_nobody_waiting() {
    for count in [1, 8] {
        let server = Running::start(threads(count), answer_target);
        let mut greedy = server.connect();
        let mut writer = greedy.writer();
        let writing = thread::spawn(move || {
            let many = get("/greedy").repeat(1000);
            while writer.write_all(many.as_bytes()).is_ok() {}
        });
        let reading = thread::spawn(move || {
            greedy.stream.read_exact(&mut [0; 4096]).expect("answers");
            let copied = greedy.stream.try_clone().expect("a descriptor");
            let end = thread::spawn(move || greedy.until_gone());
            (copied, end)
        });
        let (greedy, end) = reading.join().expect("answers came");
        let begun = Instant::now();
        for _ in 0..20 {
            assert_eq!(server.connect().get("/other").text(), "/other");
        }
        let spent = begun.elapsed();
        greedy.shutdown(Shutdown::Both).expect("it is open");
        writing.join().expect("no panic");
        end.join().expect("no panic");
        assert!(spent < Duration::from_secs(4), "{spent:?} with {count} threads");
    }
}
