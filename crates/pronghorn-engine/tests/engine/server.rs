//! A server under test: on a port of its own, in this process or in a child process.

use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use pronghorn_engine::{
    Bind, Body, BodyError, Config, Control, Exchange, Handler, Kept, Listener, Server, ServerHandle,
};

use crate::client::{Client, DEADLINE, get};

/// A running server; dropped, it drains.
pub(crate) struct Running {
    pub(crate) address: SocketAddr,
    handle: ServerHandle,
    thread: Option<JoinHandle<()>>,
    ended: Receiver<()>,
}

impl Running {
    /// Serves `handle` on a TCP port that the system chooses.
    pub(crate) fn start(
        config: Config,
        handle: impl Fn(&mut Exchange<'_>) + Send + Sync + 'static,
    ) -> Self {
        Self::start_with(config, vec![listener()], handle)
    }

    /// Serves `handle` on `listeners`; `address` is the first one's.
    pub(crate) fn start_with(
        config: Config,
        listeners: Vec<Listener>,
        handle: impl Fn(&mut Exchange<'_>) + Send + Sync + 'static,
    ) -> Self {
        Self::launch(config, listeners, Control::Nobody, Vec::new(), handle)
    }

    /// As [`start_with`](Running::start_with), with connections that were accepted before.
    pub(crate) fn start_adopting(
        config: Config,
        listeners: Vec<Listener>,
        kept: Vec<Kept>,
        handle: impl Fn(&mut Exchange<'_>) + Send + Sync + 'static,
    ) -> Self {
        Self::launch(config, listeners, Control::Nobody, kept, handle)
    }

    /// As [`start`](Running::start); signals of the process drain it. For tests in a process of their own.
    pub(crate) fn start_with_signals(
        config: Config,
        handle: impl Fn(&mut Exchange<'_>) + Send + Sync + 'static,
    ) -> Self {
        Self::launch(config, vec![listener()], Control::Signals, Vec::new(), handle)
    }

    /// As [`start`](Running::start): requests for `/hold...` wait at the gate, and the targets that were run are noted.
    pub(crate) fn start_gated(config: Config) -> (Self, Gate, Arc<Mutex<Vec<String>>>) {
        let (gate, keeper) = gate();
        let ran = Arc::new(Mutex::new(Vec::new()));
        let log = ran.clone();
        let server = Self::start(config, move |exchange: &mut Exchange<'_>| {
            let target = target(exchange);
            log.lock().expect("no panic").push(target.clone());
            if target.starts_with("/hold") {
                keeper.wait(target.clone());
            }
            answer(exchange, target);
        });
        (server, gate, ran)
    }

    fn launch(
        config: Config,
        listeners: Vec<Listener>,
        control: Control,
        kept: Vec<Kept>,
        handle: impl Fn(&mut Exchange<'_>) + Send + Sync + 'static,
    ) -> Self {
        Self::launch_handler(config, listeners, control, kept, Arc::new(Function(handle)))
    }

    /// Serves `handler` on a TCP port that the system chooses.
    pub(crate) fn start_handler(config: Config, handler: Arc<dyn Handler>) -> Self {
        Self::launch_handler(config, vec![listener()], Control::Nobody, Vec::new(), handler)
    }

    fn launch_handler(
        config: Config,
        listeners: Vec<Listener>,
        control: Control,
        kept: Vec<Kept>,
        handler: Arc<dyn Handler>,
    ) -> Self {
        let address = listeners[0].tcp_address();
        let address = address.unwrap_or(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
        let mut server = Server::new(config, listeners, handler, control).expect("a server");
        server.adopt(kept);
        let handle = server.handle();
        let (tell, ended) = channel();
        let thread = std::thread::spawn(move || {
            server.run().expect("a monitor thread");
            tell.send(()).ok();
        });
        Running { address, handle, thread: Some(thread), ended }
    }

    /// A new connection.
    pub(crate) fn connect(&self) -> Client {
        Client::connect(self.address)
    }

    /// A new connection with a request for `target` on it.
    pub(crate) fn send(&self, target: &str) -> Client {
        let mut client = self.connect();
        client.send(get(target));
        client
    }

    /// Begins a drain and does not wait for its end.
    pub(crate) fn drain(&self) {
        self.handle.drain();
    }

    /// Makes the health check fail.
    pub(crate) fn fail_health(&self) {
        self.handle.fail_health();
    }

    /// Drains, and fails if the server does not end.
    pub(crate) fn end(mut self) {
        self.handle.drain();
        self.has_ended();
        self.thread.take().expect("it ran").join().expect("it did not panic");
    }

    /// Waits until the server has ended, which something else has caused.
    pub(crate) fn has_ended(&self) {
        self.ended.recv_timeout(DEADLINE).expect("the server ends");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.handle.drain();
    }
}

/// A listener at a TCP port that the system chooses.
pub(crate) fn listener() -> Listener {
    let any = Bind::Tcp(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    Listener::open(&any, 1024).expect("a free port")
}

struct Function<F>(F);

impl<F: Fn(&mut Exchange<'_>) + Send + Sync + 'static> Handler for Function<F> {
    fn handle(&self, exchange: &mut Exchange<'_>) {
        (self.0)(exchange);
    }
}

/// Settings with `threads`.
pub(crate) fn threads(threads: usize) -> Config {
    Config { threads, ..Config::default() }
}

/// Answers with all of `body`.
pub(crate) fn answer(exchange: &mut Exchange<'_>, body: impl Into<Vec<u8>>) {
    let body = body.into();
    let kept = body.clone();
    // Whether the client is there to get it is for the test's client to say.
    let _ = exchange.respond(200, b"OK", &body, move || Box::new(kept));
}

/// Answers with the request's target.
pub(crate) fn answer_target(exchange: &mut Exchange<'_>) {
    let target = target(exchange);
    answer(exchange, target);
}

/// Answers with the request's body.
pub(crate) fn echo(exchange: &mut Exchange<'_>) {
    if let Ok(body) = body(exchange) {
        answer(exchange, body);
    }
}

pub(crate) fn target(exchange: &Exchange<'_>) -> String {
    let raw = exchange.head().target.raw.of(exchange.head_bytes());
    String::from_utf8_lossy(raw).into_owned()
}

/// The request's body, from wherever it is.
pub(crate) fn body(exchange: &mut Exchange<'_>) -> Result<Vec<u8>, BodyError> {
    Ok(match exchange.receive_body()? {
        Body::None => Vec::new(),
        Body::Memory(data) => data,
        Body::File(file, length) => {
            let mut data = vec![0; length as usize];
            file.read_exact_at(&mut data, 0).map_err(BodyError::Storage)?;
            data
        }
        other => panic!("an unexpected body: {other:?}"),
    })
}

/// A gate that handlers wait at, and that tells who arrived.
pub(crate) struct Gate {
    arrivals: Receiver<String>,
    open: Sender<()>,
}

/// The handlers' side of a [`Gate`].
pub(crate) struct GateKeeper {
    arrived: Sender<String>,
    opened: std::sync::Mutex<Receiver<()>>,
}

/// A gate and its keeper.
pub(crate) fn gate() -> (Gate, GateKeeper) {
    let (arrived, arrivals) = channel();
    let (open, opened) = channel();
    (Gate { arrivals, open }, GateKeeper { arrived, opened: opened.into() })
}

impl Gate {
    /// Waits until a handler arrives; gives its name.
    pub(crate) fn arrival(&self) -> String {
        self.arrivals.recv_timeout(DEADLINE).expect("a handler arrives")
    }

    /// Lets one handler pass.
    pub(crate) fn open(&self) {
        self.open.send(()).expect("the server lives");
    }
}

impl GateKeeper {
    /// Waits in a handler until the test opens the gate.
    pub(crate) fn wait(&self, name: String) {
        self.arrived.send(name).ok();
        self.opened.lock().expect("no panic while waiting").recv_timeout(DEADLINE).ok();
    }
}

/// Runs the body of the test `name` in a process of its own: it counts or limits what a process has.
pub(crate) fn in_own_process(name: &str, body: impl FnOnce()) {
    const MARK: &str = "PRONGHORN_TEST_IN_OWN_PROCESS";
    if std::env::var_os(MARK).is_some() {
        return body();
    }
    let program = std::env::current_exe().expect("the test's own program");
    let output = Command::new(program)
        .args(["--exact", name, "--nocapture", "--test-threads=1"])
        .env(MARK, "1")
        .output()
        .expect("the test's program starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{name}: {text}{errors}");
}
