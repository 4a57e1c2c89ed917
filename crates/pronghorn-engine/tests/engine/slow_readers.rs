//! Clients that do not read as fast as they are answered: they wait, nobody else does.

use std::sync::Arc;
use std::time::Duration;

use pronghorn_engine::{Config, Deadlines, Exchange, WriteError};
use pronghorn_proto::encode::BodySize;

use crate::client::{get, pattern};
use crate::server::{GateKeeper, Running, answer_target, gate, in_own_process, target, threads};

/// More than the buffers of both sockets take.
const LARGE: usize = 24 << 20;

/// Bytes that many responses share.
#[derive(Clone)]
struct Shared(Arc<Vec<u8>>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// A handler that answers `/large` with all of a large body at once.
fn large_at_once() -> impl Fn(&mut Exchange<'_>) + Send + Sync + 'static {
    let body = Shared(Arc::new(pattern(LARGE)));
    move |exchange| {
        if target(exchange) == "/large" {
            let _ = exchange.respond(200, b"OK", &body.0, || Box::new(body.clone()));
        } else {
            answer_target(exchange);
        }
    }
}

#[test]
fn a_whole_response_is_left_to_the_loop_and_holds_no_thread() {
    for count in [1, 8] {
        let server = Running::start(threads(count), large_at_once());
        let body = pattern(LARGE);
        let mut slow: Vec<_> = (0..8).map(|_| server.connect()).collect();
        for client in &mut slow {
            client.send(get("/large") + &get("/next"));
        }
        assert_eq!(server.connect().get("/other").text(), "/other");
        for client in &mut slow {
            assert!(client.response().body == body);
            assert_eq!(client.response().text(), "/next");
        }
    }
}

#[test]
fn responses_that_wait_for_their_clients_take_no_memory_of_their_own() {
    let name = "slow_readers::responses_that_wait_for_their_clients_take_no_memory_of_their_own";
    in_own_process(name, || {
        let server = Running::start(Config::default(), large_at_once());
        let mut warm = server.connect();
        assert_eq!(warm.get("/large").body.len(), LARGE);
        let before = resident();
        let mut slow: Vec<_> = (0..100).map(|_| server.connect()).collect();
        for client in &mut slow {
            client.send(get("/large"));
            client.head();
        }
        let grown = resident().saturating_sub(before);
        assert!(grown < LARGE, "{grown} bytes");
    });
}

/// Bytes of memory this process has.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("its memory");
    let kib: usize = line.split_whitespace().nth(1).expect("a number").parse().expect("a number");
    kib << 10
}

/// A handler that answers `/large` piece by piece, once `keeper` lets it.
fn large_in_pieces(keeper: GateKeeper) -> impl Fn(&mut Exchange<'_>) + Send + Sync + 'static {
    move |exchange| {
        if target(exchange) != "/large" {
            return answer_target(exchange);
        }
        exchange.start(200, b"OK", BodySize::Unknown);
        keeper.wait("writes".to_owned());
        for piece in pattern(LARGE).chunks(1 << 20) {
            exchange.write(piece).expect("the client is there");
        }
        exchange.finish();
    }
}

#[test]
fn a_handler_that_writes_waits_for_its_client_while_others_are_served() {
    for count in [1, 2, 8] {
        let (gate, keeper) = gate();
        // It has to give leadership away itself: nobody takes it.
        let config = Config { promote_after: Duration::from_secs(600), ..threads(count) };
        let server = Running::start(config, large_in_pieces(keeper));
        let mut slow = server.connect();
        slow.send(get("/large"));
        gate.arrival();
        gate.open();
        if count > 1 {
            assert_eq!(server.connect().get("/other").text(), "/other");
        }
        // Even the only thread accepts, reads and refuses meanwhile.
        server.connect().expect_refusal();
        assert!(slow.response().body == pattern(LARGE));
        assert_eq!(slow.get("/next").text(), "/next");
    }
}

#[test]
fn more_slow_readers_than_threads_keep_nobody_from_being_served() {
    let (gate, keeper) = gate();
    let server = Running::start(threads(2), large_in_pieces(keeper));
    let mut slow: Vec<_> = (0..6).map(|_| server.connect()).collect();
    for client in &mut slow {
        client.send(get("/large"));
        gate.arrival();
        gate.open();
    }
    assert_eq!(server.connect().get("/other").text(), "/other");
    for client in &mut slow {
        assert!(client.response().body == pattern(LARGE));
        assert_eq!(client.get("/next").text(), "/next");
    }
}

#[test]
fn a_handler_that_writes_to_a_client_that_never_reads_is_told_so() {
    for count in [1, 8] {
        let (gate, keeper) = gate();
        let write = Duration::from_millis(300);
        let deadlines = Deadlines { write, ..Deadlines::default() };
        let server = Running::start(Config { deadlines, ..threads(count) }, move |exchange| {
            exchange.start(200, b"OK", BodySize::Unknown);
            let error = loop {
                if let Err(error) = exchange.write(&[0; 64 << 10]) {
                    break error;
                }
            };
            keeper.wait(format!("{error:?}"));
        });
        let mut slow = server.connect();
        slow.send(get("/"));
        assert_eq!(gate.arrival(), format!("{:?}", WriteError::TooSlow));
        gate.open();
        slow.until_gone();
    }
}

#[test]
fn a_handler_that_writes_to_a_client_that_went_away_is_told_so() {
    for count in [1, 8] {
        let (gate, keeper) = gate();
        let server = Running::start(threads(count), move |exchange| {
            exchange.start(200, b"OK", BodySize::Unknown);
            while exchange.write(&[0; 64 << 10]).is_ok() {}
            keeper.wait("told".to_owned());
        });
        let mut client = server.connect();
        client.send(get("/"));
        client.head();
        drop(client);
        gate.arrival();
        gate.open();
    }
}
