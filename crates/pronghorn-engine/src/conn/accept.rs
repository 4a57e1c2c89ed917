//! Taking connections off the backlog, and pausing when there is no room for more.

use std::io;
use std::os::fd::OwnedFd;

use super::Conn;
use crate::address::Peer;
use crate::early::Kept;
use crate::event_loop::{Accepting, EventLoop};
use crate::listener::Listener;
use crate::sys::{self, Accepted, Ready};

/// At most this many connections are taken from a listener in one turn, so that those open already are served between.
const ACCEPTS_A_TURN: usize = 128;

/// At most this many are taken from a listener that is given up: others may go on filling it.
const MOST_LAST: usize = 1 << 16;

/// How long accepting pauses when the system has no descriptor or memory left.
pub(crate) const PAUSE_MILLIS: u64 = 100;

impl EventLoop {
    /// Connections wait at a listener.
    pub(crate) fn accept(&mut self, event: &Ready) {
        let index = Self::listener_index(event);
        if self.listeners.get(index).is_some_and(Listener::is_shared) {
            // The next is for whoever polls next.
            self.accept_one(index);
            return;
        }
        for _ in 0..ACCEPTS_A_TURN {
            if self.has_one() {
                // The others wait until it is answered, and those open already have their turn before.
                return self.events.push_back(*event);
            }
            if !self.accept_one(index) {
                return;
            }
        }
    }

    /// Takes in what waits at the listeners: nobody else will. Then no more is accepted, ever.
    pub(crate) fn accept_the_last(&mut self) {
        // Of a shared listener this process may have been woken for some, which wakes nobody else. What comes later wakes others.
        self.unwatch();
        for index in 0..self.listeners.len() {
            for _ in 0..MOST_LAST {
                if !self.accept_one(index) {
                    break;
                }
            }
        }
        // What there was no room for here may be taken in elsewhere.
        if self.ends_listeners && self.accepting == Accepting::Yes {
            self.listeners.iter().for_each(Listener::end);
        }
        self.accepting = Accepting::No;
        self.listeners.clear();
    }

    /// A connection that came by this listener stays open: the next one is for another process, if one waits.
    pub(super) fn let_others_accept(&mut self, index: usize) {
        if self.accepting != Accepting::Yes {
            return;
        }
        let Some(listener) = self.listeners.get(index).filter(|listener| listener.is_shared())
        else {
            return;
        };
        // Who begins to watch is woken last.
        let watched =
            self.selector.remove(listener).and_then(|()| self.watch_listener(index, listener));
        if watched.is_err() {
            self.pause(Accepting::PausedUntil(self.now + PAUSE_MILLIS));
        }
    }

    /// Takes one connection, if there is one and room for it; whether another may follow.
    fn accept_one(&mut self, index: usize) -> bool {
        if self.accepting != Accepting::Yes {
            return false;
        }
        if self.has_no_memory() {
            self.exhausted(&io::ErrorKind::OutOfMemory.into());
            return false;
        }
        match sys::accept(&self.listeners[index]) {
            Accepted::Connection(socket, address) => {
                self.begin(socket, address.into(), index);
                // At once, and not when the next one comes: that one is to wake another process.
                return !self.pause_if_full() && self.has_a_spare();
            }
            Accepted::Empty => return false,
            Accepted::Retry => {}
            // Whom this one has woken for, nobody else is woken for: it gets the spare descriptor.
            Accepted::Exhausted(_) if self.spare.take().is_some() => {
                return self.accept_one(index);
            }
            Accepted::Exhausted(error) => {
                self.exhausted(&error);
                return false;
            }
        }
        true
    }

    /// Whether those that are open need what memory there is. Without any, one more is tried whatever there is.
    fn has_no_memory(&mut self) -> bool {
        sys::memory_is_short() && self.conns.len() > 0 && {
            self.pool.release();
            sys::memory_is_short()
        }
    }

    /// Whether the next connection can be accepted whatever becomes of the descriptors; accepting pauses if it cannot.
    fn has_a_spare(&mut self) -> bool {
        if self.spare.is_none() {
            match sys::spare_descriptor() {
                Ok(spare) => self.spare = Some(spare),
                Err(error) => self.exhausted(&error),
            }
        }
        self.spare.is_some()
    }

    /// Takes in connections that were accepted before there was a server.
    pub(crate) fn adopt(&mut self, kept: Vec<Kept>) {
        self.now = sys::monotonic_millis();
        for Kept { socket, peer, listener } in kept {
            self.begin(socket, peer, listener);
        }
        self.pause_if_full();
    }

    fn pause_if_full(&mut self) -> bool {
        let full =
            self.accepting == Accepting::Yes && self.conns.len() >= self.config.max_connections;
        if full {
            self.pause(Accepting::Full);
        }
        full
    }

    /// A connection was closed: there is room for another.
    pub(crate) fn connection_closed(&mut self) {
        if self.accepting == Accepting::Full {
            self.resume();
        }
    }

    pub(crate) fn resume_accepting_in_time(&mut self) {
        if matches!(self.accepting, Accepting::PausedUntil(until) if until <= self.now) {
            self.resume();
        }
    }

    fn begin(&mut self, socket: OwnedFd, peer: Peer, listener: usize) {
        let mut conn = Conn::new(socket, peer, listener as u16);
        conn.announces = self.config.proxies.announces(peer);
        let token = self.conns.insert(conn);
        self.set_deadline(token, self.config.deadlines.head);
        if let Some(metrics) = &self.config.metrics {
            metrics.accepted();
        }
        // The kernel hands connections over with data there already, so reading at once usually saves a poll.
        self.read(token);
        self.count_connection(token);
    }

    fn exhausted(&mut self, error: &io::Error) {
        log::warn!(
            "a connection could not be accepted: {error}; trying again in {PAUSE_MILLIS} ms. \
             {}",
            remedy(error)
        );
        self.pause(Accepting::PausedUntil(self.now + PAUSE_MILLIS));
    }

    fn pause(&mut self, how: Accepting) {
        self.unwatch();
        self.accepting = how;
    }

    fn unwatch(&mut self) {
        for listener in &self.listeners {
            // Fails only for what is not watched, which is what is wanted.
            let _ = self.selector.remove(listener);
        }
    }

    fn resume(&mut self) {
        if self.spare.is_none() {
            self.spare = sys::spare_descriptor().ok();
        }
        if self.spare.is_none() {
            self.accepting = Accepting::PausedUntil(self.now + PAUSE_MILLIS);
            return;
        }
        self.accepting = match self.watch_listeners() {
            Ok(()) => Accepting::Yes,
            Err(_) => {
                // Those that are watched already could not be added again.
                self.unwatch();
                Accepting::PausedUntil(self.now + PAUSE_MILLIS)
            }
        };
    }
}

fn remedy(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::OutOfMemory => "Raise the limit of memory or lower --max-connections",
        _ => "Raise the limit of open files (ulimit -n) or lower --max-connections",
    }
}

impl From<Option<std::net::SocketAddr>> for Peer {
    fn from(address: Option<std::net::SocketAddr>) -> Self {
        address.map_or(Peer::Unix, Peer::Inet)
    }
}
