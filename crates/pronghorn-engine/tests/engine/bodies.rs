//! Bodies of requests: in memory and in files, at the edges of every buffer, too large ones.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use pronghorn_engine::{Body, Config};
use pronghorn_proto::limits::Limits;

use crate::client::{Client, chunked, pattern, post};
use crate::server::{Running, answer, echo};

const BODY_BUFFER: usize = 70_000;

/// Edges of the read buffer (4 KiB with its head), of the scratch buffer and of the memory for a body.
const SIZES: [usize; 12] = [
    0,
    1,
    4095,
    4096,
    4097,
    65_535,
    65_536,
    65_537,
    BODY_BUFFER - 1,
    BODY_BUFFER,
    BODY_BUFFER + 1,
    300_000,
];

fn config() -> Config {
    Config { body_buffer: BODY_BUFFER as u64, ..Config::default() }
}

/// Sends head and body, in one write or the body apart.
fn send(client: &mut Client, head: &str, body: &[u8], together: bool) {
    if together {
        client.send([head.as_bytes(), body].concat());
    } else {
        client.send(head);
        client.send(body);
    }
}

#[test]
fn bodies_of_known_length_come_byte_exact() {
    let server = Running::start(config(), echo);
    let mut client = server.connect();
    for size in SIZES {
        for together in [true, false] {
            let body = pattern(size);
            send(&mut client, &post(&format!("Content-Length: {size}")), &body, together);
            assert!(client.response().body == body, "{size} bytes, together: {together}");
        }
    }
}

#[test]
fn chunked_bodies_come_byte_exact() {
    let server = Running::start(config(), echo);
    let mut client = server.connect();
    for size in SIZES {
        for (chunk, together) in [(1000, true), (1000, false), (100_000, true), (100_000, false)] {
            let body = pattern(size);
            let wire = chunked(&body, chunk);
            send(&mut client, &post("Transfer-Encoding: chunked"), &wire, together);
            assert!(client.response().body == body, "{size} bytes in chunks of {chunk}");
        }
    }
}

#[test]
fn a_body_beyond_the_buffer_is_in_an_unnamed_file() {
    let directory = std::env::temp_dir().join(format!("pronghorn-bodies-{}", std::process::id()));
    std::fs::create_dir(&directory).expect("a directory");
    let config = Config { temporary_directory: directory.clone(), ..config() };
    let looked_in = directory.clone();
    let server = Running::start(config, move |exchange| {
        let names = std::fs::read_dir(&looked_in).expect("the directory").count();
        let kind = match exchange.take_body() {
            Body::File(file, length) => {
                assert_eq!(file.metadata().expect("an open file").len(), length);
                format!("file of {length}, {names} names")
            }
            Body::Memory(data) => format!("memory of {}, {names} names", data.len()),
            other => format!("{other:?}"),
        };
        answer(exchange, kind);
    });
    let mut client = server.connect();
    for (size, place) in [(BODY_BUFFER, "memory"), (BODY_BUFFER + 1, "file")] {
        let expected = format!("{place} of {size}, 0 names");
        client.send([post(&format!("Content-Length: {size}")).as_bytes(), &pattern(size)].concat());
        assert_eq!(client.response().text(), expected);
        client.send(
            [post("Transfer-Encoding: chunked").as_bytes(), &chunked(&pattern(size), 999)].concat(),
        );
        assert_eq!(client.response().text(), expected);
    }
    server.end();
    std::fs::remove_dir(&directory).expect("it is empty");
}

#[test]
fn a_body_with_no_place_to_be_stored_is_answered_503() {
    let nowhere = std::env::temp_dir().join("pronghorn-no-such-directory");
    let server = Running::start(Config { temporary_directory: nowhere, ..config() }, echo);
    for (framing, body) in [
        ("Content-Length: 100000", pattern(100_000)),
        ("Transfer-Encoding: chunked", chunked(&pattern(100_000), 5000)),
    ] {
        let mut client = server.connect();
        client.send([post(framing).as_bytes(), &body].concat());
        let response = client.response();
        assert!(response.status == 503 && response.closes(), "{response:?}");
    }
}

#[test]
fn a_body_that_is_too_large_is_refused_while_its_client_still_sends() {
    let limits = Limits { body: 100_000, ..Limits::default() };
    let ran = Arc::new(AtomicBool::new(false));
    let told = ran.clone();
    let server = Running::start(Config { limits, ..config() }, move |exchange| {
        told.store(true, Ordering::Relaxed);
        echo(exchange);
    });
    let endless = [b"10000\r\n".to_vec(), pattern(0x10000), b"\r\n".to_vec()].concat();
    for (framing, piece) in
        [("Content-Length: 1000000000", pattern(64 << 10)), ("Transfer-Encoding: chunked", endless)]
    {
        let mut client = server.connect();
        client.send(post(framing));
        let stop = Arc::new(Mutex::new(false));
        let (stopped, mut writer) = (stop.clone(), client.writer());
        let sending = thread::spawn(move || {
            while !*stopped.lock().expect("no panic") {
                // The server closes in the end, which the sender learns so.
                if writer.write_all(&piece).is_err() {
                    return;
                }
            }
        });
        let response = client.response();
        *stop.lock().expect("no panic") = true;
        assert!(response.status == 413 && response.closes(), "{framing}: {response:?}");
        client.half_close();
        sending.join().expect("no panic");
    }
    assert!(!ran.load(Ordering::Relaxed));
}
