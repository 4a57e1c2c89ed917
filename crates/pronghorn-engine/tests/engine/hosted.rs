//! A server in the event loop of a host, with applications that wait without blocking.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use pronghorn_engine::{
    Config, Control, Dialogue, Exchange, Handler, Hosted, Late, Occurrence, Piece, Received, Room,
    Server, ServerHandle,
};
use pronghorn_proto::encode::BodySize;

use crate::client::{Client, DEADLINE, get, pattern};
use crate::server::listener;

/// A server in a thread of its own, whose host runs [`App`]s.
struct Host {
    address: SocketAddr,
    handle: ServerHandle,
    thread: Option<JoinHandle<Vec<String>>>,
}

struct Nothing;

impl Handler for Nothing {
    fn handle(&self, exchange: &mut Exchange<'_>) {
        exchange.fail();
    }
}

impl Host {
    fn start(config: Config) -> Self {
        let (tell, told) = channel();
        let thread = std::thread::spawn(move || {
            let listeners = vec![listener()];
            let address = listeners[0].tcp_address().expect("TCP");
            let server = Server::new(config, listeners, Arc::new(Nothing), Control::Nobody);
            let server = server.expect("a server");
            tell.send((address, server.handle())).expect("somebody listens");
            host(server.host().expect("threads"))
        });
        let (address, handle) = told.recv_timeout(DEADLINE).expect("it starts");
        Host { address, handle, thread: Some(thread) }
    }

    fn connect(&self) -> Client {
        Client::connect(self.address)
    }

    /// Drains; gives what the applications noted.
    fn end(mut self) -> Vec<String> {
        self.handle.drain();
        self.thread.take().expect("it ran").join().expect("no panic")
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.handle.drain();
    }
}

/// One application under way.
struct App {
    dialogue: Box<Dialogue>,
    target: String,
    body: Vec<u8>,
    written: usize,
}

fn host(mut hosted: Hosted) -> Vec<String> {
    let (mut apps, mut notes) = (HashMap::new(), Vec::new());
    hosted.watch_also(hosted.bell()).expect("a descriptor");
    while !hosted.is_over() {
        hosted.poll(None);
        if hosted.takes_other() {
            hosted.hush();
        }
        while let Some(occurrence) = hosted.next() {
            match occurrence {
                Occurrence::Begun(dialogue) => {
                    let number = dialogue.number();
                    let target = target(&dialogue);
                    let app = App { dialogue, target, body: Vec::new(), written: 0 };
                    go_on(number, app, &mut apps, &mut notes);
                }
                Occurrence::Stirred(number) => {
                    if let Some(app) = apps.remove(&number) {
                        go_on(number, app, &mut apps, &mut notes);
                    }
                }
                Occurrence::Late(number, late) => {
                    notes.push(format!("{late:?}"));
                    if late == Late::Overdue
                        && let Some(mut app) = apps.remove(&number)
                    {
                        app.dialogue.fail_late();
                        app.dialogue.end();
                    }
                }
                Occurrence::Draining => notes.push("draining".to_owned()),
            }
        }
    }
    assert!(apps.is_empty(), "dialogues are left over");
    hosted.end();
    notes
}

fn target(dialogue: &Dialogue) -> String {
    let head = dialogue.head().expect("a request");
    String::from_utf8_lossy(head.target.raw.of(dialogue.head_bytes())).into_owned()
}

/// Runs an application until it waits or ends.
fn go_on(number: u64, mut app: App, apps: &mut HashMap<u64, App>, notes: &mut Vec<String>) {
    let waits = match app.target.as_str() {
        "/echo" => echo(&mut app),
        "/gone" => wait_for_disconnect(&mut app, notes),
        "/stream" => stream(&mut app),
        "/never" => app.written == 0,
        "/stuck" => {
            std::thread::sleep(Duration::from_millis(1500));
            respond(&mut app.dialogue, b"stuck")
        }
        "/fail" => false,
        target => {
            let target = target.as_bytes().to_vec();
            respond(&mut app.dialogue, &target)
        }
    };
    if waits {
        apps.insert(number, app);
    } else {
        app.dialogue.end();
    }
}

fn respond(dialogue: &mut Dialogue, body: &[u8]) -> bool {
    let _ = dialogue.respond(200, b"OK", body, || Box::new(body.to_vec()));
    false
}

fn echo(app: &mut App) -> bool {
    loop {
        let more = match app.dialogue.receive() {
            Received::Slice(bytes, more) => {
                app.body.extend_from_slice(bytes);
                more
            }
            Received::Body(Piece::Memory(bytes), more) => {
                app.body.extend_from_slice(&bytes);
                more
            }
            Received::Body(Piece::Lent(_), _) => panic!("nothing was lent"),
            Received::End => false,
            Received::Pending => return true,
            Received::Disconnect => return false,
        };
        if !more {
            let body = std::mem::take(&mut app.body);
            return respond(&mut app.dialogue, &body);
        }
    }
}

fn wait_for_disconnect(app: &mut App, notes: &mut Vec<String>) -> bool {
    loop {
        match app.dialogue.receive() {
            Received::Pending => return true,
            Received::Disconnect => {
                notes.push("gone".to_owned());
                let refused = app.dialogue.respond(200, b"OK", b"late", || Box::new("late"));
                notes.push(format!("{refused:?}"));
                return false;
            }
            _ => {}
        }
    }
}

const STREAMED: usize = 8 << 20;

fn stream(app: &mut App) -> bool {
    if app.written == 0 {
        app.dialogue.start(200, b"OK", BodySize::Unknown);
    }
    let body = pattern(STREAMED);
    loop {
        match app.dialogue.room() {
            Ok(Room::Free) => {}
            Ok(Room::Full) => return true,
            Err(_) => return false,
        }
        if app.written == STREAMED {
            app.dialogue.finish();
            return false;
        }
        let piece = &body[app.written..][..64 << 10];
        let sent = app.dialogue.write(piece, || Box::new(piece.to_vec()));
        if sent.is_err() {
            return false;
        }
        app.written += piece.len();
    }
}

#[test]
fn requests_are_answered_one_after_the_other_and_pipelined() {
    let server = Host::start(Config::default());
    let mut client = server.connect();
    assert_eq!(client.get("/one").body, b"/one");
    assert_eq!(client.get("/two").body, b"/two");
    client.send([get("/a"), get("/b"), get("/c")].concat());
    for expected in ["/a", "/b", "/c"] {
        assert_eq!(client.response().body, expected.as_bytes());
    }
    assert_eq!(client.get("/fail").status, 500);
    drop(client);
    assert_eq!(server.end(), ["draining"]);
}

#[test]
fn bodies_arrive_whole_however_they_are_framed_and_cut() {
    let server = Host::start(Config::default());
    for size in [0, 1, 4000, 65_536, 300_000, 3_000_000] {
        let body = pattern(size);
        let mut client = server.connect();
        let head = format!("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: {size}\r\n\r\n");
        let writer = client.writer();
        let sent = body.clone();
        let sender = std::thread::spawn(move || {
            let mut client = Client::on(writer);
            client.send(head);
            client.send(&sent);
            client.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
            for piece in sent.chunks(70_000) {
                client.send(format!("{:x}\r\n", piece.len()));
                client.send(piece);
                client.send("\r\n");
            }
            client.send("0\r\n\r\n");
            client.send(get("/after"));
        });
        assert!(client.response().body == body, "{size}");
        assert!(client.response().body == body, "{size} in chunks");
        assert_eq!(client.response().body, b"/after");
        sender.join().expect("all was sent");
    }
}

#[test]
fn a_client_is_asked_for_the_body_it_holds_back() {
    let server = Host::start(Config::default());
    let mut client = server.connect();
    client.send(
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n",
    );
    assert!(client.head().starts_with("HTTP/1.1 100 "));
    client.send("hello");
    assert_eq!(client.response().body, b"hello");
}

#[test]
fn a_stream_waits_for_its_client() {
    let server = Host::start(Config::default());
    let mut slow = server.connect();
    slow.send(get("/stream"));
    let mut client = server.connect();
    assert_eq!(client.get("/hello").body, b"/hello");
    assert!(slow.response().body == pattern(STREAMED));
    assert_eq!(slow.get("/after").body, b"/after");
}

#[test]
fn an_application_that_waits_learns_that_its_client_has_gone() {
    let server = Host::start(Config::default());
    let mut client = server.connect();
    client.send(get("/gone"));
    assert_eq!(server.connect().get("/").status, 200);
    drop(client);
    let mut notes = server.end();
    notes.sort();
    assert_eq!(notes, ["Err(Gone)", "draining", "gone"]);
}

#[test]
fn the_host_is_not_disturbed_for_an_application_that_ended_within_its_grace() {
    let mut config = Config::default();
    config.deadlines.disconnect_grace = Some(Duration::from_millis(200));
    let server = Host::start(config);
    let mut client = server.connect();
    client.send(get("/gone"));
    assert_eq!(server.connect().get("/").status, 200);
    drop(client);
    std::thread::sleep(Duration::from_millis(400));
    assert_eq!(server.end(), ["gone", "Err(Gone)", "draining"]);
}

#[test]
fn a_body_that_is_cut_or_malformed_is_answered_400() {
    let server = Host::start(Config::default());
    let mut client = server.connect();
    client.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabc");
    client.half_close();
    assert_eq!(client.response().status, 400);
    let mut client = server.connect();
    client.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n");
    client.send("5\r\nhelloXX");
    assert_eq!(client.response().status, 400);
}

#[test]
fn an_application_over_its_time_is_answered_for() {
    let mut config = Config::default();
    config.deadlines.request = Some(Duration::from_millis(300));
    config.deadlines.slow_request = Some(Duration::from_millis(100));
    let server = Host::start(config);
    let mut client = server.connect();
    let response = client.get("/never");
    assert_eq!(response.status, 504);
    drop(client);
    assert_eq!(server.end(), ["Slow", "Overdue", "draining"]);
}

#[test]
fn a_host_that_is_stuck_delays_no_health_check_and_no_deadline() {
    let mut config = Config { health: Some("/health".to_owned()), ..Config::default() };
    config.deadlines.head = Duration::from_millis(500);
    let server = Host::start(config);
    let mut stuck = server.connect();
    let mut kept = server.connect();
    assert_eq!(kept.get("/health").status, 200);
    stuck.send(get("/stuck"));
    std::thread::sleep(Duration::from_millis(100));
    let begun = Instant::now();
    let mut silent = server.connect();
    silent.send("GET / HT");
    assert_eq!(server.connect().get("/health").body, b"ok\n");
    assert_eq!(kept.get("/health").body, b"ok\n");
    let mut waiting = server.connect();
    waiting.send(get("/waited"));
    assert!(begun.elapsed() < Duration::from_millis(300), "{:?}", begun.elapsed());
    assert_eq!(silent.response().status, 408);
    assert!(begun.elapsed() < Duration::from_millis(1000), "{:?}", begun.elapsed());
    assert_eq!(waiting.response().body, b"/waited");
    assert_eq!(stuck.response().body, b"stuck");
    assert_eq!(kept.get("/after").body, b"/after");
}
