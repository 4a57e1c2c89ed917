//! The drain: what is in flight is answered, what is idle ends, nothing new begins.

use std::net::TcpStream;
use std::time::Duration;

use pronghorn_engine::{Bind, Config, Deadlines, Listener};
use signal_hook::consts::SIGTERM;
use signal_hook::low_level::raise;

use crate::client::{Client, get};
use crate::server::{Running, answer, answer_target, gate, in_own_process, target, threads};

#[test]
fn an_idle_server_ends() {
    for count in [1, 8] {
        Running::start(threads(count), answer_target).end();
    }
}

#[test]
fn idle_connections_are_closed() {
    let path = std::env::temp_dir().join(format!("pronghorn-drain-{}", std::process::id()));
    for count in [1, 8] {
        // A Unix socket: TCP connections are not even accepted before they say something.
        let listener = Listener::open(&Bind::Unix(path.clone()), 16).expect("a listener");
        // No other deadline ends them.
        let long = Duration::from_secs(600);
        let deadlines = Deadlines { head: long, keep_alive: long, ..Deadlines::default() };
        let config = Config { deadlines, ..threads(count) };
        let server = Running::start_with(config, vec![listener], answer_target);
        let mut silent = Client::connect_unix(&path);
        let mut kept = Client::connect_unix(&path);
        assert!(!kept.get("/").closes());
        server.drain();
        kept.expect_end();
        silent.expect_end();
        server.end();
    }
}

#[test]
fn a_request_on_its_way_when_the_drain_begins_is_answered_and_told_of_the_close() {
    for count in [1, 8] {
        let server = Running::start(threads(count), answer_target);
        let mut kept = server.connect();
        let mut begun = server.connect();
        begun.send("GET /begun HTTP/1.1\r\n");
        assert!(!kept.get("/").closes());
        server.drain();
        let response = kept.get("/late");
        assert!(response.closes() && response.text() == "/late");
        kept.expect_end();
        begun.send("Host: a\r\n\r\n");
        let response = begun.response();
        assert!(response.closes() && response.text() == "/begun");
        server.end();
    }
}

#[test]
fn connections_in_the_backlog_when_the_drain_begins_are_answered() {
    let (gate, keeper) = gate();
    let server = Running::start(threads(1), move |exchange| {
        let target = target(exchange);
        keeper.wait(target.clone());
        answer(exchange, target);
    });
    let mut first = server.connect();
    first.send(get("/first"));
    drop(gate.arrival());
    // The only thread is busy: these are connected as far as the kernel goes. They are more than one turn accepts.
    let mut waiting: Vec<_> = (0..200).map(|_| server.connect()).collect();
    for client in &mut waiting {
        client.send(get("/waiting"));
    }
    server.drain();
    (0..201).for_each(|_| gate.open());
    assert_eq!(first.response().text(), "/first");
    for client in &mut waiting {
        let response = client.response();
        assert!(response.closes() && response.text() == "/waiting");
    }
    server.end();
}

#[test]
fn requests_in_flight_are_answered_and_queued_ones_too() {
    for count in [1, 2] {
        let (gate, keeper) = gate();
        let server = Running::start(threads(count), move |exchange| {
            let target = target(exchange);
            keeper.wait(target.clone());
            answer(exchange, target);
        });
        let mut clients: Vec<_> = (0..5).map(|_| server.connect()).collect();
        for client in &mut clients {
            client.send(get("/flight"));
        }
        (0..count).for_each(|_| drop(gate.arrival()));
        server.drain();
        (0..5).for_each(|_| gate.open());
        for client in &mut clients {
            let response = client.response();
            assert_eq!((response.status, response.text()), (200, "/flight".to_owned()));
            client.expect_end();
        }
        server.end();
    }
}

#[test]
fn nothing_is_accepted_any_more() {
    let server = Running::start(Config::default(), answer_target);
    let mut idle = server.connect();
    idle.get("/");
    server.drain();
    idle.expect_end();
    assert!(TcpStream::connect(server.address).is_err());
    server.end();
}

#[test]
fn a_signal_that_comes_with_requests_is_not_lost() {
    in_own_process("drain::a_signal_that_comes_with_requests_is_not_lost", || {
        let (gate, keeper) = gate();
        let server = Running::start_with_signals(threads(1), move |exchange| {
            let target = target(exchange);
            if target.starts_with("/hold") {
                keeper.wait(target.clone());
            }
            answer(exchange, target);
        });
        let mut kept: Vec<_> = (0..4).map(|_| server.connect()).collect();
        for client in &mut kept {
            assert_eq!(client.get("/").status, 200);
        }
        kept[0].send(get("/hold"));
        gate.arrival();
        // While the only thread is busy, so that it finds all of these at once.
        kept[1].send(get("/before"));
        raise(SIGTERM).expect("a signal");
        kept[2].send(get("/after"));
        kept[3].send(get("/after"));
        gate.open();
        for client in &mut kept {
            assert_eq!(client.response().status, 200);
        }
        server.has_ended();
    });
}
