//! What the server answers itself: health and metrics, whatever its threads are doing.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use pronghorn_engine::{Board, Config};

use crate::client::{Client, Response};
use crate::server::{Running, answer_target, gate, listener, target, threads};

/// Settings with both paths, and room to count.
fn config(count: usize) -> Config {
    let board = Board::new(1).expect("memory");
    let index = board.claim(0).expect("a block");
    Config {
        metrics: Some(board.block(index)),
        metrics_path: Some("/metrics".to_owned()),
        health: Some("/health".to_owned()),
        ..threads(count)
    }
}

/// The value of a sample, in a response or once it is what it should be.
fn value(response: &Response, sample: &str) -> f64 {
    let text = response.text();
    let found = text.lines().find_map(|line| line.strip_prefix(sample)?.strip_prefix(' '));
    let found = found.unwrap_or_else(|| panic!("no {sample} in {text}"));
    found.parse().expect("a number")
}

/// Waits until a sample has a value: what a thread counts after its answer may come after the client's next question.
fn wait_for(client: &mut Client, sample: &str, wanted: f64) {
    let begun = Instant::now();
    loop {
        let got = value(&client.get("/metrics"), sample);
        if got == wanted {
            return;
        }
        assert!(begun.elapsed() < Duration::from_secs(5), "{sample} is {got}, not {wanted}");
    }
}

#[test]
fn requests_are_counted_and_the_servers_own_are_not() {
    let server = Running::start(config(8), answer_target);
    let mut client = server.connect();
    for _ in 0..3 {
        assert_eq!(client.get("/a").status, 200);
    }
    assert_eq!(client.get("/health").text(), "ok\n");
    wait_for(&mut client, "pronghorn_requests_total{method=\"GET\",status=\"2xx\"}", 3.0);
    let metrics = client.get("/metrics?all");
    assert_eq!(metrics.field("Content-Type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    for (sample, expected) in [
        ("pronghorn_request_duration_seconds_count", 3.0),
        ("pronghorn_request_queue_seconds_count", 3.0),
        ("pronghorn_connections_accepted_total", 1.0),
        // The connection that asks: it was idle before.
        ("pronghorn_connections{state=\"idle\"}", 1.0),
        ("pronghorn_requests_in_flight", 0.0),
        ("pronghorn_threads{state=\"busy\"}", 0.0),
        ("pronghorn_threads{state=\"idle\"}", 8.0),
        ("pronghorn_workers{state=\"ready\"}", 1.0),
    ] {
        assert_eq!(value(&metrics, sample), expected, "{sample}");
    }
    assert!(value(&metrics, "pronghorn_sent_bytes_total") > 300.0);
    assert!(value(&metrics, "pronghorn_received_bytes_total") > 100.0);
    server.end();
}

#[test]
fn both_are_answered_while_every_thread_is_busy() {
    let (gate, keeper) = gate();
    let server = Running::start(config(2), move |exchange| {
        keeper.wait(target(exchange));
        answer_target(exchange);
    });
    let mut busy: Vec<_> = (0..3).map(|_| server.connect()).collect();
    for client in &mut busy {
        client.send("GET /busy HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    for _ in 0..2 {
        gate.arrival();
    }
    let mut client = server.connect();
    assert_eq!(client.get("/health").status, 200);
    wait_for(&mut client, "pronghorn_requests_queued", 1.0);
    let metrics = client.get("/metrics");
    for (sample, expected) in [
        ("pronghorn_threads{state=\"busy\"}", 2.0),
        ("pronghorn_threads{state=\"idle\"}", 0.0),
        ("pronghorn_requests_in_flight", 3.0),
        ("pronghorn_connections{state=\"running\"}", 3.0),
    ] {
        assert_eq!(value(&metrics, sample), expected, "{sample}");
    }
    assert!(value(&metrics, "pronghorn_promotions_total") >= 1.0);
    (0..3).for_each(|_| gate.open());
    assert!(busy.iter_mut().all(|client| client.response().status == 200));
    server.end();
}

#[test]
fn only_get_and_head_are_answered() {
    let server = Running::start(config(1), answer_target);
    let mut client = server.connect();
    client.send("HEAD /metrics HTTP/1.1\r\nHost: a\r\n\r\n");
    let head = client.response_to("HEAD");
    assert_eq!(head.status, 200);
    assert!(head.field("Content-Length").is_some_and(|length| length.len() >= 4));
    client.send("DELETE /health HTTP/1.1\r\nHost: a\r\n\r\n");
    let refused = client.response();
    assert_eq!((refused.status, refused.field("Allow")), (405, Some("GET, HEAD")));
    // A body is not read: what follows cannot be told from it.
    client.send("POST /metrics HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc");
    let refused = client.response();
    assert!(refused.status == 405 && refused.closes());
    client.expect_end();
    server.end();
}

#[test]
fn very_many_pipelined_questions_are_answered_in_order() {
    let server = Running::start(config(1), answer_target);
    let mut client = server.connect();
    let mut writer = client.writer();
    let pipelined = "GET /health HTTP/1.1\r\nHost: a\r\n\r\n".repeat(20_000);
    let thread = std::thread::spawn(move || {
        use std::io::Write;
        writer.write_all(pipelined.as_bytes()).expect("the server reads");
        writer.write_all(b"GET /last HTTP/1.1\r\nHost: a\r\n\r\n").expect("the server reads");
    });
    for _ in 0..20_000 {
        assert_eq!(client.response().text(), "ok\n");
    }
    assert_eq!(client.response().text(), "/last");
    thread.join().expect("all was sent");
    server.end();
}

#[test]
fn a_listener_for_metrics_serves_nothing_else() {
    let config = Config { metrics_path: None, ..config(8) };
    let listeners = vec![listener().for_metrics(), listener()];
    let other = listeners[1].tcp_address().expect("TCP");
    let server = Running::start_with(config, listeners, answer_target);
    let mut client = server.connect();
    assert!(client.get("/metrics").text().contains("pronghorn_requests_total"));
    assert_eq!(client.get("/health").status, 200);
    assert_eq!(client.get("/").status, 404);
    assert_eq!(Client::connect(other).get("/metrics").text(), "/metrics");
    server.end();
}

#[test]
fn health_fails_when_told_and_while_the_server_drains() {
    let server = Running::start(config(1), answer_target);
    let (mut told, mut draining) = (server.connect(), server.connect());
    assert_eq!(draining.get("/health").status, 200);
    server.fail_health();
    assert_eq!(told.get("/health").status, 503);
    assert_eq!(told.get("/served").status, 200);
    server.drain();
    // It has begun when nobody can connect any more.
    while TcpStream::connect(server.address).is_ok() {}
    let answer = draining.get("/health");
    assert_eq!((answer.status, answer.text().as_str(), answer.closes()), (503, "draining\n", true));
    server.end();
}
