//! Responses: every way a handler can answer, fail to, or say what is not so.

use std::fs::File;
use std::io::Write;

use pronghorn_engine::{Config, Exchange};
use pronghorn_proto::encode::BodySize;

use crate::client::{get, pattern};
use crate::server::{Running, answer, answer_target, target, threads};

/// A file of these bytes, without a name.
fn file(bytes: &[u8]) -> File {
    let path = std::env::temp_dir().join(format!(
        "pronghorn-file-{}-{:?}",
        std::process::id(),
        std::thread::current().id()
    ));
    let mut file =
        File::options().read(true).write(true).create_new(true).open(&path).expect("a file");
    std::fs::remove_file(path).expect("its name");
    file.write_all(bytes).expect("room");
    file
}

#[test]
fn a_part_of_a_file_is_sent_exactly() {
    let server = Running::start(Config::default(), |exchange| {
        let size =
            if target(exchange) == "/known" { BodySize::Known(400_000) } else { BodySize::Unknown };
        exchange.start(200, b"OK", size);
        exchange.send_file(file(&pattern(500_000)), 100, 400_000).expect("the client is there");
        exchange.finish();
    });
    let mut client = server.connect();
    for target in ["/known", "/unknown", "/known"] {
        let response = client.get(target);
        assert!(response.body == pattern(500_000)[100..400_100], "{target}");
    }
    client.send("GET /unknown HTTP/1.0\r\n\r\n");
    let response = client.response();
    assert!(response.closes() && response.body == pattern(500_000)[100..400_100]);
}

#[test]
fn a_file_that_became_shorter_cuts_the_response() {
    const LENGTH: u64 = 64 << 20;
    let server = Running::start(Config::default(), |exchange| {
        let long = file(b"");
        long.set_len(LENGTH).expect("a sparse file");
        let same = long.try_clone().expect("a descriptor");
        exchange.start(200, b"OK", BodySize::Known(LENGTH));
        exchange.send_file(long, 0, LENGTH).expect("the client is there");
        exchange.finish();
        // More than a socket takes at once is left to be sent.
        same.set_len(LENGTH / 2).expect("a shorter file");
    });
    let mut client = server.connect();
    client.send(get("/"));
    assert_eq!(&client.head()[..15], "HTTP/1.1 200 OK");
    let sent = client.until_gone().len() as u64;
    assert!(sent <= LENGTH / 2, "{sent}");
}

#[test]
fn pieces_of_unknown_length_are_chunked_or_end_with_the_connection() {
    let server = Running::start(Config::default(), |exchange| {
        exchange.start(200, b"OK", BodySize::Unknown);
        for piece in [&b"one "[..], b"", b"two ", &[b'x'; 10_000]] {
            exchange.write(piece).expect("the client is there");
        }
        exchange.finish();
    });
    let whole = [b"one two ".to_vec(), vec![b'x'; 10_000]].concat();
    let mut client = server.connect();
    for _ in 0..2 {
        let response = client.get("/");
        assert_eq!(response.field("Transfer-Encoding"), Some("chunked"));
        assert!(response.body == whole);
    }
    client.send("GET / HTTP/1.0\r\n\r\n");
    let response = client.response();
    assert!(response.body == whole && response.closes());
}

#[test]
fn responses_without_body_have_none_whatever_the_handler_sends() {
    let server = Running::start(Config::default(), |exchange| {
        let status = target(exchange)[1..].parse().expect("a status");
        let _ = exchange.respond(status, b"R", b"surplus", || Box::new(b"surplus"));
    });
    let mut client = server.connect();
    for _ in 0..2 {
        client.send("HEAD /200 HTTP/1.1\r\nHost: a\r\n\r\n");
        let head = client.response_to("HEAD");
        assert_eq!((head.status, head.field("Content-Length")), (200, Some("7")));
        let empty = client.get("/204");
        assert_eq!((empty.status, empty.field("Content-Length")), (204, None));
        assert_eq!(client.get("/304").status, 304);
        assert_eq!(client.get("/200").text(), "surplus");
    }
}

/// Answers with ten bytes where the target says how many were promised.
fn promise(exchange: &mut Exchange<'_>) {
    let promised = target(exchange)[1..].to_owned();
    exchange.fields().push(b"Content-Length", promised.as_bytes()).expect("a number");
    answer(exchange, "0123456789");
}

#[test]
fn a_response_longer_than_promised_is_cut_to_its_length() {
    let server = Running::start(Config::default(), promise);
    let mut client = server.connect();
    assert_eq!(client.get("/4").text(), "0123");
    assert_eq!(client.get("/10").text(), "0123456789");
}

#[test]
fn a_response_shorter_than_promised_ends_its_connection() {
    let server = Running::start(Config::default(), promise);
    let mut client = server.connect();
    client.send(get("/20") + &get("/10"));
    assert!(client.head().contains("Content-Length: 20\r\n"));
    assert_eq!(client.until_gone(), b"0123456789");
}

/// Fails as its target says, before or after the response has begun.
fn fail(exchange: &mut Exchange<'_>) {
    match target(exchange).as_str() {
        "/panic" => panic!("a panic that is part of the test"),
        "/nothing" => {}
        "/head" => exchange.start(200, b"OK", BodySize::Known(5)),
        "/part" | "/part-and-panic" => {
            exchange.start(200, b"OK", BodySize::Unknown);
            exchange.write(b"part").expect("the client is there");
            if target(exchange) == "/part-and-panic" {
                panic!("a panic that is part of the test");
            }
        }
        _ => answer_target(exchange),
    }
}

#[test]
fn a_handler_that_fails_before_the_head_is_answered_500() {
    for count in [1, 8] {
        let server = Running::start(threads(count), fail);
        for target in ["/panic", "/nothing", "/head"] {
            let mut client = server.connect();
            let response = client.get(target);
            assert!(response.status == 500 && response.closes(), "{target}: {response:?}");
            client.expect_end();
        }
        assert_eq!(server.connect().get("/well").text(), "/well");
    }
}

#[test]
fn a_handler_that_fails_after_the_head_never_looks_complete() {
    let server = Running::start(Config::default(), fail);
    for target in ["/part", "/part-and-panic"] {
        let mut client = server.connect();
        client.send(get(target));
        assert!(client.head().contains("chunked"));
        assert_eq!(client.until_gone(), b"4\r\npart\r\n");

        // Where the end of the connection is the end of the body, only a reset tells of the failure.
        let mut client = server.connect();
        client.send(format!("GET {target} HTTP/1.0\r\n\r\n"));
        client.head();
        let error = client.rest().expect_err("no orderly end");
        assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset);
    }
    assert_eq!(server.connect().get("/well").text(), "/well");
}
