//! Requests that run too long: their clients are answered, their code is interrupted, and the server goes on.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pronghorn_engine::{Config, Deadlines, Exchange, Handler, Reason, Replacement, Work};
use pronghorn_proto::encode::BodySize;

use crate::client::{DEADLINE, get};
use crate::server::{Gate, GateKeeper, Running, answer, body, gate, target};

const TIMEOUT: Duration = Duration::from_millis(200);

/// Waits at the gate when asked to, and notes how it is interrupted.
struct Held {
    keeper: GateKeeper,
    interrupted: AtomicUsize,
    forgotten: Mutex<Vec<ThreadId>>,
    ran_on: Mutex<Vec<ThreadId>>,
}

impl Handler for Held {
    fn handle(&self, exchange: &mut Exchange<'_>) {
        let target = target(exchange);
        if target.starts_with("/begun") {
            exchange.start(200, b"OK", BodySize::Unknown);
            exchange.write(b"begun").expect("the client is there");
        }
        if target.starts_with("/sleep") {
            thread::sleep(TIMEOUT);
        }
        if target != "/" && !target.starts_with("/sleep") {
            self.ran_on.lock().expect("no panic").push(thread::current().id());
            self.keeper.wait(target.clone());
        }
        if target.starts_with("/begun") {
            assert!(exchange.write(b"late").is_err(), "over its time");
        } else {
            answer(exchange, target);
        }
    }

    fn interrupt(&self, _work: Work) {
        self.interrupted.fetch_add(1, Ordering::Relaxed);
    }

    fn forget_interrupt(&self) {
        self.forgotten.lock().expect("no panic").push(thread::current().id());
    }
}

fn config(threads: usize) -> Config {
    let deadlines = Deadlines {
        request: Some(TIMEOUT),
        request_grace: Duration::from_secs(60),
        ..Deadlines::default()
    };
    Config { threads, deadlines, ..Config::default() }
}

fn start(config: Config) -> (Running, Gate, Arc<Held>) {
    let (gate, keeper) = gate();
    let held = Arc::new(Held {
        keeper,
        interrupted: AtomicUsize::new(0),
        forgotten: Mutex::default(),
        ran_on: Mutex::default(),
    });
    (Running::start_handler(config, held.clone()), gate, held)
}

fn wait_until(reached: impl Fn() -> bool) {
    let begun = Instant::now();
    while !reached() {
        assert!(begun.elapsed() < DEADLINE, "not so in time");
        thread::sleep(Duration::from_millis(1));
    }
}

/// A replacement, and why it was asked for.
fn replacement() -> (Replacement, Receiver<Reason>) {
    let (ask, asked): (Sender<Reason>, _) = channel();
    (Replacement::new(move |reason| ask.send(reason).expect("the test listens")), asked)
}

#[test]
fn a_request_over_its_time_is_answered_504_while_its_thread_is_still_busy() {
    for threads in [1, 4] {
        let (server, gate, held) = start(config(threads));
        let mut late = server.send("/late");
        gate.arrival();
        let response = late.response();
        assert_eq!(response.status, 504);
        assert!(response.head.contains("\r\nConnection: close\r\n"), "{}", response.head);
        assert!(response.head.contains("\r\nDate: "), "{}", response.head);
        late.expect_end();
        wait_until(|| held.interrupted.load(Ordering::Relaxed) == 1);
        if threads > 1 {
            assert_eq!(server.connect().get("/").status, 200);
        }
        gate.open();
        assert_eq!(server.connect().get("/").status, 200);
        wait_until(|| !held.forgotten.lock().expect("no panic").is_empty());
        // The interruption was forgotten once, on the thread that it was for.
        assert_eq!(
            *held.forgotten.lock().expect("no panic"),
            *held.ran_on.lock().expect("no panic")
        );
        server.end();
    }
}

#[test]
fn a_response_that_had_begun_is_cut() {
    let (server, gate, held) = start(config(2));
    let mut late = server.send("/begun");
    gate.arrival();
    assert!(late.head().contains(" 200 OK\r\n"));
    wait_until(|| held.interrupted.load(Ordering::Relaxed) == 1);
    gate.open();
    let rest = late.rest();
    assert!(!rest.is_ok_and(|rest| rest.ends_with(b"0\r\n\r\n")), "it looks whole");
    assert_eq!(server.connect().get("/").status, 200);
}

#[test]
fn a_request_that_does_not_end_has_the_process_replaced_once() {
    let (replacement, asked) = replacement();
    let mut config = Config { replacement: Some(replacement), ..config(2) };
    config.deadlines.request_grace = Duration::from_millis(100);
    let (server, gate, _) = start(config);
    let mut late = server.send("/late");
    gate.arrival();
    assert_eq!(asked.recv_timeout(DEADLINE), Ok(Reason::Stuck));
    assert!(asked.recv_timeout(Duration::from_millis(300)).is_err(), "asked again");
    assert_eq!(late.response().status, 504);
    assert_eq!(server.connect().get("/").status, 200);
    gate.open();
}

#[test]
fn a_request_that_ends_within_the_grace_time_has_nothing_replaced() {
    let (replacement, asked) = replacement();
    let mut config = Config { replacement: Some(replacement), ..config(2) };
    config.deadlines.request_grace = Duration::from_millis(500);
    let (server, gate, held) = start(config);
    let mut late = server.send("/late");
    gate.arrival();
    wait_until(|| held.interrupted.load(Ordering::Relaxed) == 1);
    gate.open();
    assert_eq!(late.response().status, 504);
    assert!(asked.recv_timeout(Duration::from_secs(1)).is_err());
}

#[test]
fn without_a_request_timeout_a_request_may_take_its_time() {
    let deadlines = Deadlines { request: None, ..Deadlines::default() };
    let (server, gate, held) = start(Config { deadlines, ..config(2) });
    let mut client = server.send("/patient");
    gate.arrival();
    thread::sleep(TIMEOUT * 3);
    gate.open();
    assert_eq!(client.response().status, 200);
    assert_eq!(held.interrupted.load(Ordering::Relaxed), 0);
}

#[test]
fn the_time_a_request_waits_for_its_client_does_not_count() {
    for threads in [1, 2] {
        let server = Running::start(config(threads), |exchange: &mut Exchange<'_>| {
            let received = body(exchange).expect("a body");
            exchange.start(200, b"OK", BodySize::Known(received.len() as u64 + (64 << 20)));
            exchange.write(&received).expect("the client is there");
            for _ in 0..64 {
                exchange
                    .write(&[b'x'; 1 << 20])
                    .expect("it waits for the client as long as need be");
            }
            exchange.finish();
        });
        let mut client = server.connect();
        client.send(
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n",
        );
        assert!(client.head().contains(" 100 "));
        thread::sleep(TIMEOUT * 2);
        client.send("body");
        thread::sleep(TIMEOUT * 2);
        let response = client.response();
        assert_eq!((response.status, response.body.len()), (200, 4 + (64 << 20)));
        assert!(response.body.starts_with(b"body"));
    }
}

#[test]
fn requests_about_as_long_as_they_may_be_get_one_answer_each() {
    let (server, _gate, held) = start(config(4));
    let clients: Vec<_> = (0..4)
        .map(|number| {
            let mut client = server.connect();
            thread::spawn(move || {
                (0..5)
                    .map(|turn| {
                        let target = format!("/sleep/{number}/{turn}");
                        client.send(get(&target));
                        let response = client.response();
                        match response.status {
                            200 => assert_eq!(response.text(), target),
                            504 => client.expect_end(),
                            other => panic!("{other}"),
                        }
                        response.status
                    })
                    .take_while(|status| *status == 200)
                    .count()
            })
        })
        .collect();
    for client in clients {
        client.join().expect("each has one answer");
    }
    assert_eq!(server.connect().get("/").status, 200);
    let forgotten = held.forgotten.lock().expect("no panic").len();
    assert_eq!(held.interrupted.load(Ordering::Relaxed), forgotten);
}
