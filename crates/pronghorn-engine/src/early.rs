//! Answers of the server itself before there is a server: while the application is imported.
//!
//! A thread takes in connections and peeks at what they send. A question to the server itself it answers; every other connection
//! it keeps, unread, for the server that comes.

use std::collections::HashMap;
use std::io;
use std::mem;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use pronghorn_proto::encode::RequestFacts;
use pronghorn_proto::error::Error;
use pronghorn_proto::head::{HeadScanner, RequestHead};
use pronghorn_proto::proxy;

use crate::address::Peer;
use crate::client::Proxies;
use crate::config::Config;
use crate::date::date_now;
use crate::listener::Listener;
use crate::own::Asked;
use crate::request::READ_BUFFER;
use crate::sys::{self, Accepted, Interest, Ready, Selector, Waker};

/// Tokens from here on are no connections: the waker, then the listeners.
const WAKER: u64 = u64::MAX;
const FIRST_LISTENER: u64 = u64::MAX - 1;

/// How long accepting pauses when the system has no descriptor or memory left.
const PAUSE_MILLIS: u64 = 100;

/// The stack of the thread.
const STACK: usize = 256 << 10;

/// Answers health and metrics until the server is there. Dropped without [`finish`](Early::finish) it closes what it kept.
#[derive(Debug)]
pub struct Early {
    ending: Arc<Ending>,
    thread: Option<JoinHandle<Vec<Kept>>>,
}

#[derive(Debug)]
struct Ending {
    wanted: AtomicBool,
    waker: Waker,
}

/// A connection that waits for the server.
#[derive(Debug)]
pub struct Kept {
    pub(crate) socket: OwnedFd,
    pub(crate) peer: Peer,
    pub(crate) listener: usize,
}

impl Early {
    /// Accepts at `listeners`, which the server gets later, in a thread of its own.
    ///
    /// # Errors
    /// The system's, when it has no descriptors or threads left.
    pub fn start(config: &Config, listeners: &[Listener]) -> io::Result<Self> {
        let selector = Selector::new()?;
        let waker = Waker::new(&selector, WAKER)?;
        let ending = Arc::new(Ending { wanted: AtomicBool::new(false), waker });
        let waiting = Waiting {
            config: config.clone(),
            listeners: listeners.iter().map(Listener::share).collect::<io::Result<_>>()?,
            selector,
            watches: false,
            exhausted: false,
            conns: HashMap::new(),
            number: 0,
            buffer: Vec::with_capacity(READ_BUFFER),
        };
        let theirs = ending.clone();
        let builder = std::thread::Builder::new().name("pronghorn-early".to_owned());
        let thread = builder.stack_size(STACK).spawn(move || waiting.run(&theirs))?;
        Ok(Early { ending, thread: Some(thread) })
    }

    /// Ends it; gives the connections that wait for the server, in the order they came in.
    pub fn finish(mut self) -> Vec<Kept> {
        self.end()
    }

    fn end(&mut self) -> Vec<Kept> {
        self.ending.wanted.store(true, Ordering::Release);
        self.ending.waker.wake();
        // A panic has been reported by itself; what was kept is lost with it.
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Drop for Early {
    fn drop(&mut self) {
        self.end();
    }
}

/// The thread's own.
struct Waiting {
    config: Config,
    listeners: Vec<Listener>,
    selector: Selector,
    /// Whether listeners are watched.
    watches: bool,
    /// No descriptor or memory was to be had: accepting pauses.
    exhausted: bool,
    /// By token, which are counted up.
    conns: HashMap<u64, Kept>,
    number: u64,
    buffer: Vec<u8>,
}

impl Waiting {
    fn run(mut self, ending: &Ending) -> Vec<Kept> {
        let mut events = Vec::new();
        while !ending.wanted.load(Ordering::Acquire) {
            if !mem::take(&mut self.exhausted) {
                self.watch_while_there_is_room();
            }
            let pause = (!self.watches).then_some(PAUSE_MILLIS);
            if let Err(error) = self.selector.wait(&mut events, pause) {
                log::error!("waiting for connections failed: {error}");
                break;
            }
            events.drain(..).for_each(|event| self.dispatch(&event));
        }
        let mut kept: Vec<_> = self.conns.drain().collect();
        kept.sort_unstable_by_key(|(token, _)| *token);
        kept.into_iter().map(|(_, kept)| kept).collect()
    }

    fn dispatch(&mut self, event: &Ready) {
        match event.token {
            WAKER => {}
            token if token > FIRST_LISTENER - self.listeners.len() as u64 => {
                self.accept((FIRST_LISTENER - token) as usize);
            }
            token => self.look_at(token),
        }
    }

    fn watch_while_there_is_room(&mut self) {
        let room = self.conns.len() < self.config.max_connections;
        if room == self.watches {
            return;
        }
        self.unwatch();
        self.watches = room
            && self.listeners.iter().zip(0..).all(|(listener, index)| {
                self.selector.add(listener, FIRST_LISTENER - index, Interest::Listen).is_ok()
            });
    }

    fn unwatch(&mut self) {
        self.watches = false;
        for listener in &self.listeners {
            // Fails only for what is not watched, which is what is wanted.
            let _ = self.selector.remove(listener);
        }
    }

    fn accept(&mut self, listener: usize) {
        while self.conns.len() < self.config.max_connections {
            match sys::accept(&self.listeners[listener]) {
                Accepted::Connection(socket, address) => {
                    self.keep(Kept { socket, peer: address.into(), listener });
                }
                Accepted::Empty => return,
                Accepted::Retry => {}
                Accepted::Exhausted(_) => {
                    self.exhausted = true;
                    return self.unwatch();
                }
            }
        }
    }

    fn keep(&mut self, kept: Kept) {
        let token = self.number;
        self.number += 1;
        // One that cannot be watched waits all the same.
        let _ = self.selector.add(&kept.socket, token, Interest::Read);
        self.conns.insert(token, kept);
        self.look_at(token);
    }

    /// Looks at what a connection has sent, if that is a question to the server itself.
    fn look_at(&mut self, token: u64) {
        let Some(kept) = self.conns.get(&token) else { return };
        self.buffer.clear();
        match sys::peek(&kept.socket, &mut self.buffer) {
            // It closed, or ended its side, without a word.
            Ok(0) => drop(self.conns.remove(&token)),
            Ok(_) => self.answer(token),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(_) => drop(self.conns.remove(&token)),
        }
    }

    fn answer(&mut self, token: u64) {
        let mut head = RequestHead::default();
        let Some(kept) = self.conns.get(&token) else { return };
        let bytes = match behind_announcement(&self.config.proxies, kept.peer, &self.buffer) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return,
            Err(_) => return self.leave(token),
        };
        match HeadScanner::default().advance(bytes, &self.config.limits, &mut head) {
            // More is to come, which is an event.
            Ok(None) => return,
            Ok(Some(_)) => {}
            Err(_) => return self.leave(token),
        }
        let for_metrics = self.listeners[kept.listener].is_for_metrics();
        let valid = head.interpret(bytes, &self.config.limits).is_ok();
        match Asked::of(&self.config, &head, bytes, for_metrics).filter(|_| valid) {
            Some(asked) => self.respond(token, asked, &head),
            None => self.leave(token),
        }
    }

    /// The server will see to it.
    fn leave(&mut self, token: u64) {
        if let Some(kept) = self.conns.get(&token) {
            // One that is watched on costs a look now and then.
            let _ = self.selector.remove(&kept.socket);
        }
    }

    /// Answers, and closes.
    fn respond(&mut self, token: u64, asked: Asked, head: &RequestHead) {
        let Some(kept) = self.conns.remove(&token) else { return };
        let facts = RequestFacts::of(head, false);
        let answer = asked.answer(&self.config, head.method, Some("starting"));
        let date = date_now();
        let server = self.config.server_fields_for(&date, None);
        // It fits into an empty send buffer; who has gone needs no answer.
        let _ = sys::send(&kept.socket, &answer.encode(&facts, &server));
        sys::shutdown_write(&kept.socket);
        // Bytes left unread would make the close a reset, which can destroy the answer.
        while matches!(sys::discard(&kept.socket), Ok(1..)) {}
    }
}

/// What `peer` sent behind the header of the PROXY protocol, where it has to begin with one; `None` while that is not complete.
fn behind_announcement<'a>(
    proxies: &Proxies,
    peer: Peer,
    bytes: &'a [u8],
) -> Result<Option<&'a [u8]>, Error> {
    match proxies.protocol.filter(|_| proxies.announces(peer)) {
        None => Ok(Some(bytes)),
        Some(versions) => {
            let announced = proxy::parse(bytes, versions)?;
            Ok(announced.map(|announced| &bytes[announced.length..]))
        }
    }
}
