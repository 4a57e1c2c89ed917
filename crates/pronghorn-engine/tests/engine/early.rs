//! While there is no server yet: questions to it are answered, everything else waits for it.

use std::time::{Duration, Instant};

use pronghorn_engine::{Bind, Config, Early, Listener, Proxies};
use pronghorn_proto::proxy::Versions;

use crate::client::{Client, get};
use crate::server::{Running, answer_target, listener, threads};

fn config() -> Config {
    Config { health: Some("/health".to_owned()), ..threads(2) }
}

#[test]
fn only_questions_to_the_server_are_answered_and_the_rest_waits_for_it() {
    let listener = listener();
    let address = listener.tcp_address().expect("TCP");
    let early = Early::start(&config(), std::slice::from_ref(&listener)).expect("a thread");
    let mut whole = Client::connect(address);
    whole.send(get("/whole"));
    let mut cut = Client::connect(address);
    cut.send("GET /cu");
    let mut closed = Client::connect(address);
    closed.send(get("/closed"));
    closed.half_close();
    let mut health = Client::connect(address);
    // In two parts, as a slow network brings them.
    health.send("GET /health HTTP/1.1\r\n");
    health.send("Host: a\r\n\r\n");
    let answer = health.response();
    assert_eq!((answer.status, answer.text().as_str(), answer.closes()), (503, "starting\n", true));
    health.expect_end();
    let begun = Instant::now();
    let kept = early.finish();
    assert!(begun.elapsed() < Duration::from_secs(5));
    let server = Running::start_adopting(config(), vec![listener], kept, answer_target);
    assert_eq!(whole.response().text(), "/whole");
    assert_eq!(closed.response().text(), "/closed");
    cut.send("t HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(cut.response().text(), "/cut");
    assert_eq!(whole.get("/health").status, 200);
    server.end();
}

#[test]
fn a_balancer_asks_behind_its_announcement() {
    let listener = listener();
    let address = listener.tcp_address().expect("TCP");
    let proxies = Proxies { protocol: Some(Versions::Either), ..Proxies::default() };
    let config = Config { proxies, ..config() };
    let early = Early::start(&config, std::slice::from_ref(&listener)).expect("a thread");
    let mut refused = Client::connect(address);
    refused.send(get("/health"));
    let mut health = Client::connect(address);
    health.send("PROXY UNK");
    health.send("NOWN\r\nGET /health HT");
    health.send("TP/1.1\r\nHost: a\r\n\r\n");
    assert_eq!(health.response().text(), "starting\n");
    let kept = early.finish();
    assert_eq!(kept.len(), 1);
    let server = Running::start_adopting(config, vec![listener], kept, answer_target);
    assert_eq!(refused.response().status, 400);
    server.end();
}

#[test]
fn what_is_over_the_most_connections_waits_in_the_backlog() {
    let listener = listener();
    let address = listener.tcp_address().expect("TCP");
    let config = Config { max_connections: 2, ..config() };
    let early = Early::start(&config, std::slice::from_ref(&listener)).expect("a thread");
    let mut clients: Vec<_> = (0..4).map(|_| Client::connect(address)).collect();
    for client in &mut clients {
        client.send(get("/x").replace("Host", "Connection: close\r\nHost"));
    }
    let kept = early.finish();
    assert!(kept.len() <= 2, "{}", kept.len());
    let server = Running::start_adopting(config, vec![listener], kept, answer_target);
    assert!(clients.iter_mut().all(|client| client.response().status == 200));
    server.end();
}

#[test]
fn a_client_that_left_is_not_kept() {
    let path = std::env::temp_dir().join(format!("pronghorn-early-{}", std::process::id()));
    let listener = Listener::open(&Bind::Unix(path.clone()), 16).expect("a listener");
    let early = Early::start(&config(), std::slice::from_ref(&listener)).expect("a thread");
    drop(Client::connect_unix(&path));
    let mut health = Client::connect_unix(&path);
    health.send(get("/health"));
    assert_eq!(health.response().status, 503);
    assert!(early.finish().is_empty());
}
