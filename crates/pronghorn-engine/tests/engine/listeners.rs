//! Every kind of listening socket, several at once.

use std::io::ErrorKind;
use std::net::{Ipv6Addr, SocketAddr, TcpListener};
use std::os::fd::IntoRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::PathBuf;

use pronghorn_engine::{Access, Bind, Config, Exchange, Listener, Peer};

use crate::client::Client;
use crate::server::{Running, answer, in_own_process};

/// Answers with what the handler sees of listener and peer.
fn answer_addresses(exchange: &mut Exchange<'_>) {
    let local = exchange.local();
    let peer = match exchange.peer() {
        Peer::Inet(address) => address.ip().to_string(),
        Peer::Unix => "unix".to_owned(),
    };
    let text = format!("{} {} {} {} {peer}", local.index, local.name, local.port, local.unix);
    answer(exchange, text);
}

/// A path in a directory of its own.
fn socket_path(test: &str) -> PathBuf {
    let directory = std::env::temp_dir().join(format!("pronghorn-{test}-{}", std::process::id()));
    std::fs::create_dir_all(&directory).expect("a directory");
    directory.join("socket")
}

fn remove(path: &std::path::Path) {
    std::fs::remove_dir_all(path.parent().expect("a directory")).expect("it can go");
}

#[test]
fn one_server_listens_on_tcp_of_both_families_and_on_a_unix_socket() {
    let path = socket_path("several");
    let v6 = Bind::Tcp(SocketAddr::from((Ipv6Addr::LOCALHOST, 0)));
    let v4 = Bind::Tcp(SocketAddr::from(([127, 0, 0, 1], 0)));
    let listeners = [v4, v6, Bind::Unix(path.clone())].map(|bind| Listener::open(&bind, 16));
    let listeners = listeners.map(|opened| opened.expect("a listener"));
    let ports = [&listeners[0], &listeners[1]].map(|listener| listener.tcp_address());
    let [Some(v4), Some(v6)] = ports else { panic!("TCP has addresses") };
    let server = Running::start_with(Config::default(), listeners.into(), answer_addresses);

    let text = server.connect().get("/").text();
    assert_eq!(text, format!("0 127.0.0.1 {} false 127.0.0.1", v4.port()));
    let text = Client::connect(v6).get("/").text();
    assert_eq!(text, format!("1 ::1 {} false ::1", v6.port()));
    let text = Client::connect_unix(&path).get("/").text();
    assert_eq!(text, format!("2 {}  true unix", path.display()));

    server.end();
    assert!(!path.exists(), "the socket is left behind");
    remove(&path);
}

#[test]
fn a_stale_unix_socket_is_replaced() {
    let path = socket_path("stale");
    drop(UnixListener::bind(&path).expect("a socket"));
    assert!(path.exists());
    let listener = Listener::open(&Bind::Unix(path.clone()), 16).expect("it is replaced");
    let server = Running::start_with(Config::default(), vec![listener], answer_addresses);
    assert_eq!(Client::connect_unix(&path).get("/").status, 200);
    server.end();
    remove(&path);
}

#[test]
fn a_unix_socket_in_use_is_left_to_its_server() {
    let path = socket_path("live");
    let other = UnixListener::bind(&path).expect("a socket");
    let error = Listener::open(&Bind::Unix(path.clone()), 16).expect_err("it is in use");
    assert_eq!(error.kind(), ErrorKind::AddrInUse);
    drop(other.accept().expect("the connection that was tried"));
    std::os::unix::net::UnixStream::connect(&path).expect("it is still there");
    remove(&path);
}

#[test]
fn what_is_no_socket_is_left_alone() {
    let path = socket_path("regular");
    std::fs::write(&path, "precious").expect("a file");
    let error = Listener::open(&Bind::Unix(path.clone()), 16).expect_err("no socket");
    assert_eq!(error.kind(), ErrorKind::AlreadyExists);
    assert_eq!(std::fs::read(&path).expect("the file"), b"precious");

    let link = path.with_file_name("link");
    std::os::unix::fs::symlink(&path, &link).expect("a link");
    assert!(Listener::open(&Bind::Unix(link.clone()), 16).is_err());
    assert!(link.is_symlink() && path.exists());
    remove(&path);
}

#[test]
fn a_symbolic_link_is_left_alone_wherever_it_leads() {
    let path = socket_path("links");
    let target = |name: &str| path.with_file_name(name);
    std::fs::write(target("regular"), "precious").expect("a file");
    drop(UnixListener::bind(target("stale")).expect("a socket"));
    let _live = UnixListener::bind(target("live")).expect("a socket");
    for name in ["regular", "stale", "live", "missing"] {
        let link = target(&format!("to-{name}"));
        std::os::unix::fs::symlink(target(name), &link).expect("a link");
        let error = Listener::open(&Bind::Unix(link.clone()), 16).expect_err(name);
        assert_eq!(error.kind(), ErrorKind::AlreadyExists, "{name}");
        assert!(link.is_symlink(), "{name}");
        assert_eq!(target(name).exists(), name != "missing", "{name}");
    }
    remove(&path);
}

#[test]
fn a_socket_whose_backlog_is_full_is_alive() {
    let path = socket_path("full");
    let _live = Listener::open(&Bind::Unix(path.clone()), 0).expect("a socket");
    let _waiting = std::os::unix::net::UnixStream::connect(&path).expect("one fits");
    let error = Listener::open(&Bind::Unix(path.clone()), 16).expect_err("it is in use");
    assert_eq!(error.kind(), ErrorKind::AddrInUse);
    remove(&path);
}

#[test]
fn a_socket_of_another_kind_is_left_alone() {
    let path = socket_path("datagram");
    let _live = std::os::unix::net::UnixDatagram::bind(&path).expect("a socket");
    let error = Listener::open(&Bind::Unix(path.clone()), 16).expect_err("it is in use");
    assert_eq!(error.kind(), ErrorKind::AddrInUse);
    assert!(path.exists());
    remove(&path);
}

#[test]
fn a_socket_that_took_the_name_is_not_removed() {
    let path = socket_path("taken");
    let listener = Listener::open(&Bind::Unix(path.clone()), 16).expect("a socket");
    std::fs::remove_file(&path).expect("it can go");
    let _other = UnixListener::bind(&path).expect("a socket");
    drop(listener);
    assert!(path.exists());
    remove(&path);
}

#[test]
fn a_unix_socket_has_the_permissions_asked_for_whatever_the_umask() {
    let path = socket_path("mode");
    for mode in [0o600, 0o660, 0o666, 0o777] {
        let access = Access { mode: Some(mode), ..Access::default() };
        let _listener = Listener::open_unix(&path, access, 16).expect("a socket");
        let found = std::fs::symlink_metadata(&path).expect("the socket").permissions().mode();
        assert_eq!(found & 0o7777, mode);
    }
    remove(&path);
}

#[test]
fn of_servers_that_start_at_once_on_a_stale_socket_one_listens() {
    let path = socket_path("race");
    for _ in 0..20 {
        drop(UnixListener::bind(&path).expect("a socket"));
        let start = std::sync::Barrier::new(4);
        let open = || {
            start.wait();
            Listener::open(&Bind::Unix(path.clone()), 16)
        };
        let opened = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(open)).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect::<Vec<_>>()
        });
        let listening = opened.iter().filter(|opened| opened.is_ok()).count();
        assert_eq!(listening, 1, "{opened:?}");
        for error in opened.iter().filter_map(|opened| opened.as_ref().err()) {
            assert_eq!(error.kind(), ErrorKind::AddrInUse);
        }
        std::os::unix::net::UnixStream::connect(&path).expect("it listens");
    }
    remove(&path);
}

#[test]
fn a_port_in_use_is_an_error() {
    let other = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = other.local_addr().expect("its address");
    let error = Listener::open(&Bind::Tcp(address), 16).expect_err("it is in use");
    assert_eq!(error.kind(), ErrorKind::AddrInUse);
}

#[test]
fn an_inherited_listening_socket_is_served() {
    in_own_process("listeners::an_inherited_listening_socket_is_served", || {
        let inherited = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = inherited.local_addr().expect("its address");
        let listener = Listener::open(&Bind::Fd(inherited.into_raw_fd()), 16);
        let listener = listener.expect("a listening socket");
        assert_eq!(listener.tcp_address(), Some(address));
        let server = Running::start_with(Config::default(), vec![listener], answer_addresses);
        assert_eq!(server.connect().get("/").status, 200);
        server.end();
    });
}

#[test]
fn a_descriptor_that_does_not_listen_is_refused() {
    in_own_process("listeners::a_descriptor_that_does_not_listen_is_refused", || {
        let file = std::fs::File::open("/dev/null").expect("a file").into_raw_fd();
        let error = Listener::open(&Bind::Fd(file), 16).expect_err("no socket");
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        let error = Listener::open(&Bind::Fd(987), 16).expect_err("not open");
        assert_eq!(error.kind(), ErrorKind::NotFound);
    });
}
