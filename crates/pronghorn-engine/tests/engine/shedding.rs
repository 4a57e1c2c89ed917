//! Requests beyond what the server may take on are answered 503 at once, and those that waited too long without running.

use std::time::{Duration, Instant};

use pronghorn_engine::{Config, Deadlines};

use crate::client::{Response, get};
use crate::server::Running;

fn assert_shed(response: &Response) {
    assert_eq!(response.status, 503);
    assert!(response.head.contains("\r\nRetry-After: 1\r\n"), "{}", response.head);
}

fn crowded() -> Config {
    Config { threads: 2, max_concurrency: Some(3), ..Config::default() }
}

fn impatient(threads: usize, millis: u64) -> Config {
    let queue = Some(Duration::from_millis(millis));
    let deadlines = Deadlines { queue, ..Deadlines::default() };
    Config { threads, deadlines, ..Config::default() }
}

#[test]
fn more_than_the_most_requests_are_answered_503_at_once_and_their_connections_go_on() {
    let (server, gate, ran) = Running::start_gated(crowded());
    let mut held = [server.send("/hold/1"), server.send("/hold/2")];
    held.iter().for_each(|_| drop(gate.arrival()));
    let mut queued = server.send("/queued");
    let mut excess = server.send("/excess");
    assert_shed(&excess.response());
    assert_shed(&excess.get("/excess"));
    gate.open();
    assert_eq!(queued.response().status, 200);
    assert_eq!(excess.get("/again").status, 200);
    gate.open();
    held.iter_mut().for_each(|client| assert_eq!(client.response().status, 200));
    assert!(!ran.lock().expect("no panic").contains(&"/excess".to_owned()));
}

#[test]
fn pipelined_requests_are_shed_one_after_the_other() {
    let (server, gate, _) = Running::start_gated(Config { max_concurrency: Some(1), ..crowded() });
    let mut held = server.send("/hold");
    gate.arrival();
    let mut client = server.connect();
    // More than a turn sheds, and more than a stack would hold if each were shed inside the one before.
    let many = 20_000;
    let mut writer = client.writer();
    let sender = std::thread::spawn(move || {
        std::io::Write::write_all(&mut writer, get("/excess").repeat(many).as_bytes())
    });
    (0..many).for_each(|_| assert_shed(&client.response()));
    sender.join().expect("no panic").expect("the server reads");
    gate.open();
    assert_eq!(held.response().status, 200);
    // Its response may be here before it counts as over.
    let limit = Instant::now() + Duration::from_secs(5);
    while client.get("/again").status != 200 {
        assert!(Instant::now() < limit, "the request that was held counts for ever");
    }
}

#[test]
fn a_request_that_is_not_whole_is_shed_with_its_connection() {
    let (server, gate, _) = Running::start_gated(Config { max_concurrency: Some(1), ..crowded() });
    let mut held = server.send("/hold");
    gate.arrival();
    let mut client = server.connect();
    client.send(
        "POST /excess HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n",
    );
    let response = client.response();
    assert_shed(&response);
    assert!(response.head.contains("\r\nConnection: close\r\n"), "{}", response.head);
    client.expect_end();
    gate.open();
    assert_eq!(held.response().status, 200);
}

#[test]
fn a_request_that_waits_too_long_is_answered_503_while_every_thread_is_busy() {
    let (server, gate, ran) = Running::start_gated(impatient(2, 300));
    let mut held = [server.send("/hold/1"), server.send("/hold/2")];
    held.iter().for_each(|_| drop(gate.arrival()));
    let begun = Instant::now();
    let mut late = server.send("/late");
    assert_shed(&late.response());
    let waited = begun.elapsed();
    assert!(waited > Duration::from_millis(250), "{waited:?}");
    // A deadline of the run queue is noticed up to 250 ms late; the machine may be slow.
    assert!(waited < Duration::from_millis(1500), "{waited:?}");
    held.iter().for_each(|_| gate.open());
    held.iter_mut().for_each(|client| assert_eq!(client.response().status, 200));
    assert_eq!(late.get("/again").status, 200);
    assert!(!ran.lock().expect("no panic").contains(&"/late".to_owned()));
}

#[test]
fn on_one_thread_a_request_that_waited_too_long_is_not_run() {
    let (server, gate, ran) = Running::start_gated(impatient(1, 300));
    let mut held = server.send("/hold/1");
    gate.arrival();
    // These are read in one batch after the thread was away, so the second waits in the run queue while the first runs.
    let mut next = server.send("/hold/2");
    let mut late = server.send("/late");
    std::thread::sleep(Duration::from_millis(300));
    gate.open();
    gate.arrival();
    std::thread::sleep(Duration::from_millis(400));
    gate.open();
    assert_eq!(held.response().status, 200);
    assert_eq!(next.response().status, 200);
    assert_shed(&late.response());
    assert!(!ran.lock().expect("no panic").contains(&"/late".to_owned()));
}

#[test]
fn without_a_queue_timeout_a_request_waits() {
    let deadlines = Deadlines { queue: None, ..Deadlines::default() };
    let (server, gate, _) =
        Running::start_gated(Config { threads: 2, deadlines, ..Config::default() });
    let mut held = [server.send("/hold/1"), server.send("/hold/2")];
    held.iter().for_each(|_| drop(gate.arrival()));
    let mut patient = server.send("/patient");
    std::thread::sleep(Duration::from_millis(600));
    held.iter().for_each(|_| gate.open());
    assert_eq!(patient.response().status, 200);
    held.iter_mut().for_each(|client| assert_eq!(client.response().status, 200));
}
