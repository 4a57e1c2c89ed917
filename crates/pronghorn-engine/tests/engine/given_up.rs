//! Queued requests whose client has gone are not run; those of a client that only ended its side are.

use std::thread;
use std::time::Duration;

use crate::client::get;
use crate::server::{Running, threads};

/// Longer than a FIN may come after its request and still be a half-close.
const LATER: Duration = Duration::from_millis(500);

#[test]
fn on_one_thread_requests_that_came_while_it_was_busy_are_not_run_for_clients_that_gave_up() {
    let (server, gate, ran) = Running::start_gated(threads(1));
    let mut held = server.send("/hold");
    gate.arrival();
    let gone: Vec<_> = (0..5).map(|number| server.send(&format!("/gone/{number}"))).collect();
    let mut patient = server.send("/patient");
    thread::sleep(LATER);
    drop(gone);
    gate.open();
    assert_eq!(held.response().text(), "/hold");
    assert_eq!(patient.response().text(), "/patient");
    assert_eq!(*ran.lock().expect("no panic"), ["/hold", "/patient"]);
}

#[test]
fn on_one_thread_requests_queued_behind_a_long_one_are_not_run_for_clients_that_gave_up() {
    let (server, gate, ran) = Running::start_gated(threads(1));
    let mut first = server.send("/hold/1");
    gate.arrival();
    // These are read in one batch, so the second waits in the run queue while the first runs.
    let mut held = server.send("/hold/2");
    let gone = server.send("/gone");
    let mut patient = server.send("/patient");
    gate.open();
    assert_eq!(gate.arrival(), "/hold/2");
    thread::sleep(LATER);
    drop(gone);
    gate.open();
    assert_eq!(first.response().text(), "/hold/1");
    assert_eq!(held.response().text(), "/hold/2");
    assert_eq!(patient.response().text(), "/patient");
    assert_eq!(*ran.lock().expect("no panic"), ["/hold/1", "/hold/2", "/patient"]);
}

#[test]
fn with_all_threads_busy_a_queued_request_is_dropped_when_its_client_gives_up() {
    let (server, gate, ran) = Running::start_gated(threads(2));
    let mut held = [server.send("/hold/1"), server.send("/hold/2")];
    gate.arrival();
    gate.arrival();
    let mut gone = server.send("/gone");
    thread::sleep(LATER);
    gone.half_close();
    // Its connection is closed while both threads are still busy.
    gone.expect_end();
    gate.open();
    gate.open();
    for client in &mut held {
        assert_eq!(client.response().status, 200);
    }
    assert!(!ran.lock().expect("no panic").contains(&"/gone".to_owned()));
}

#[test]
fn a_half_close_with_a_request_that_has_to_wait_is_answered() {
    for count in [1, 2] {
        let (server, gate, _) = Running::start_gated(threads(count));
        let mut held: Vec<_> =
            (0..count).map(|number| server.send(&format!("/hold/{number}"))).collect();
        held.iter().for_each(|_| drop(gate.arrival()));
        let mut waits = server.send("/waits");
        waits.half_close();
        thread::sleep(LATER);
        held.iter().for_each(|_| gate.open());
        assert_eq!(waits.response().text(), "/waits");
        waits.expect_end();
        held.iter_mut().for_each(|client| assert_eq!(client.response().status, 200));
    }
}

#[test]
fn a_half_close_with_pipelined_requests_is_answered() {
    for count in [1, 2] {
        for together in [true, false] {
            let (server, gate, _) = Running::start_gated(threads(count));
            let mut client = server.connect();
            if together {
                client.send(get("/hold") + &get("/next"));
            } else {
                client.send(get("/hold"));
                gate.arrival();
                client.send(get("/next"));
            }
            client.half_close();
            if together {
                gate.arrival();
            }
            thread::sleep(LATER);
            gate.open();
            assert_eq!(client.response().text(), "/hold");
            assert_eq!(client.response().text(), "/next");
            client.expect_end();
        }
    }
}
