//! As many connections as there may be, and as many as the system has descriptors for.

use std::io::{ErrorKind, Read};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::time::Duration;

use pronghorn_engine::Config;
use rustix::net::{AddressFamily, SocketType, connect, socket};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::time::{ClockId, clock_gettime};

use crate::client::{Client, get};
use crate::server::{Running, answer_target, in_own_process};

/// How long is waited for what must not happen.
const WHILE: Duration = Duration::from_millis(600);

#[test]
fn connections_beyond_the_most_wait_in_the_backlog() {
    let config = Config { max_connections: 3, ..Config::default() };
    let server = Running::start(config, answer_target);
    for _ in 0..3 {
        let mut open: Vec<_> = (0..3).map(|_| server.connect()).collect();
        for client in &mut open {
            assert_eq!(client.get("/in").text(), "/in");
        }
        let mut waits = server.connect();
        waits.send(get("/waits"));
        expect_nothing(&mut waits);
        open.pop();
        assert_eq!(waits.response().text(), "/waits");
        assert_eq!(open[0].get("/still-in").text(), "/still-in");
    }
}

fn expect_nothing(client: &mut Client) {
    let stream = &mut client.stream;
    let deadline = stream.read_timeout().expect("a timeout");
    stream.set_read_timeout(Some(WHILE)).expect("a timeout");
    let error = stream.read(&mut [0]).expect_err("no answer");
    assert_eq!(error.kind(), ErrorKind::WouldBlock);
    stream.set_read_timeout(deadline).expect("a timeout");
}

#[test]
fn without_descriptors_accepting_pauses_and_goes_on_when_there_are_some() {
    let name = "limits::without_descriptors_accepting_pauses_and_goes_on_when_there_are_some";
    in_own_process(name, || {
        let server = Running::start(Config::default(), answer_target);
        let mut kept = server.connect();
        assert_eq!(kept.get("/").status, 200);
        let sockets: Vec<_> = (0..20).map(|_| new_socket()).collect();

        let limit = getrlimit(Resource::Nofile);
        set_limit(Some(3), &limit);
        let mut waiting: Vec<_> =
            sockets.into_iter().map(|socket| connected(socket, server.address)).collect();
        for client in &mut waiting {
            client.send(get("/waits"));
        }
        let before = cpu_time();
        expect_nothing(&mut waiting[0]);
        let spent = cpu_time() - before;
        assert!(spent < WHILE / 3, "accepting spins: {spent:?}");
        assert_eq!(kept.get("/kept").text(), "/kept");

        set_limit(limit.current, &limit);
        for client in &mut waiting {
            assert_eq!(client.response().text(), "/waits");
        }
        server.end();
    });
}

fn new_socket() -> OwnedFd {
    socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket")
}

/// A client on a socket that was made before: this takes no descriptor.
fn connected(socket: OwnedFd, address: SocketAddr) -> Client {
    connect(&socket, &address).expect("the backlog has room");
    Client::on(TcpStream::from(socket))
}

fn set_limit(current: Option<u64>, limit: &Rlimit) {
    setrlimit(Resource::Nofile, Rlimit { current, maximum: limit.maximum }).expect("a limit");
}

fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
