//! Proxies in front: for whom requests are made, what they are called, and who connections are announced to be from.

use std::collections::HashSet;

use pronghorn_engine::{Believed, Client as Asks, Config, Exchange, Peers, Proxies, Trusted};
use pronghorn_proto::proxy::Versions;

use crate::server::{Running, answer};

/// Answers with client, identifier and trace of the request.
fn tell(exchange: &mut Exchange<'_>) {
    let Asks { ip, port } = exchange.client();
    let text = |bytes: Option<&[u8]>| {
        bytes.map_or("-".to_owned(), |bytes| String::from_utf8_lossy(bytes).into_owned())
    };
    let client = ip.map_or("-".to_owned(), |ip| ip.to_string());
    let port = port.map_or("-".to_owned(), |port| port.to_string());
    let (id, trace) = (text(exchange.request_id()), text(exchange.traceparent()));
    answer(exchange, format!("{client} {port} {id} {trace}"));
}

fn ask(server: &Running, start: &[u8], lines: &str) -> String {
    let mut client = server.connect();
    client.send(start);
    client.send(format!("GET / HTTP/1.1\r\nHost: a\r\n{lines}\r\n"));
    client.response().text()
}

fn announced() -> Config {
    let proxies = Proxies { protocol: Some(Versions::Either), ..Proxies::default() };
    Config { proxies, ..Config::default() }
}

#[test]
fn the_client_is_whom_trusted_proxies_name() {
    let server = Running::start(Config::default(), tell);
    let answer = ask(&server, b"", "X-Forwarded-For: 6.6.6.6, 192.0.2.1:80, ::1\r\n");
    assert_eq!(answer, "192.0.2.1 80 - -");
    let trusted = Trusted::Peers(Peers::default());
    let proxies = Proxies { trusted, believed: Believed::default(), ..Proxies::default() };
    let server = Running::start(Config { proxies, ..Config::default() }, tell);
    assert!(ask(&server, b"", "X-Forwarded-For: 192.0.2.1\r\n").starts_with("127.0.0.1 "));
}

#[test]
fn an_announced_peer_is_the_client() {
    let server = Running::start(announced(), tell);
    let header = b"PROXY TCP4 192.0.2.1 198.51.100.1 4711 80\r\n";
    assert_eq!(ask(&server, header, ""), "192.0.2.1 4711 - -");
    let of_another = "X-Forwarded-For: 6.6.6.6\r\n";
    assert_eq!(ask(&server, header, of_another), "192.0.2.1 4711 - -");
    assert!(ask(&server, b"PROXY UNKNOWN\r\n", of_another).starts_with("6.6.6.6 - "));
}

#[test]
fn a_connection_that_is_not_announced_is_refused() {
    let server = Running::start(announced(), tell);
    let mut client = server.connect();
    client.send(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    let response = client.response();
    assert_eq!((response.status, response.closes()), (400, true));
}

#[test]
fn every_request_has_an_identifier_of_its_own() {
    let server = Running::start(Config { request_ids: true, ..Config::default() }, tell);
    let mut seen = HashSet::new();
    for _ in 0..4 {
        let mut client = server.connect();
        for _ in 0..50 {
            let response = client.get("/");
            let id = response.field("X-Request-ID").map(str::to_owned).expect("an identifier");
            assert!(response.text().contains(&id));
            assert!(seen.insert(id), "twice");
        }
    }
}

#[test]
fn a_trace_is_told_if_it_is_valid() {
    let server = Running::start(Config::default(), tell);
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let line = format!("traceparent: {trace}\r\n");
    assert!(ask(&server, b"", &line).ends_with(trace));
    for bad in [line.replace("00f0", "00F0"), line.replace("00-", "ff-"), line.repeat(2)] {
        assert!(ask(&server, b"", &bad).ends_with(" -"), "{bad}");
    }
}
