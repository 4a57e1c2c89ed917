//! Connections: what is known of each, and where it stands.

mod accept;
mod announcement;
mod deadline;
mod drain;
mod finish;
mod output;
mod own;
mod read;
mod refuse;
mod shed;
mod table;
mod unsent;

use std::os::fd::OwnedFd;

use pronghorn_proto::state::State;

use crate::address::Peer;
use crate::dialogue::{Farewell, Line};
use crate::metrics::Stand;
use crate::request::Request;
use crate::timer::Tick;

pub use output::Retained;
pub(crate) use output::{Flushed, Output, Piece};
pub(crate) use read::{Step, storage};
pub(crate) use shed::{is_late, shed_late};
pub(crate) use table::{Table, Token};
pub(crate) use unsent::{MOST_KEPT, Outbox};

/// One connection. Small: a worker may hold very many idle ones.
pub(crate) struct Conn {
    /// None while a request runs: the thread that runs it has the socket.
    pub(crate) socket: Option<OwnedFd>,
    pub(crate) phase: Phase,
    pub(crate) state: State,
    pub(crate) peer: Peer,
    pub(crate) listener: u16,
    pub(crate) watched: Watched,
    /// It has to begin with a header of the PROXY protocol, which is not complete.
    pub(crate) announces: bool,
    pub(crate) noted: Noted,
    /// When its latest response was done, in milliseconds of the monotonic clock; 0 is never.
    pub(crate) answered_at: u64,
    /// When to look whether it is late; 0 is never.
    pub(crate) deadline: Tick,
    /// When the earliest reminder in the wheel fires; 0 if there is none.
    pub(crate) reminder: Tick,
    /// What the metrics say that it is doing.
    pub(crate) counted: Option<Stand>,
}

/// Where a connection stands.
pub(crate) enum Phase {
    /// Between requests. No buffer is held.
    Idle,
    /// A part of a head has come.
    Head(Box<Request>),
    /// A part of a body has come, or the whole head.
    Body(Box<Request>),
    /// Its request is queued or runs.
    Running,
    /// Its request is answered by an application that does not block.
    Dialogue(Box<Line>),
    /// A response is being sent by the loop; what was read beyond its request is kept.
    Writing(Box<Output>, Box<Request>),
    /// Everything is said; what still comes is thrown away, so that no reset destroys the response. Of a WebSocket the client may be
    /// known to say nothing more.
    Lingering(Option<Farewell>),
}

/// What the selector watches a connection for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watched {
    Nothing,
    Read,
    ReadWrite,
}

/// What the selector reported, and was not acted on yet.
#[derive(Clone, Copy, Default)]
pub(crate) struct Noted {
    /// There may be bytes to read.
    pub(crate) readable: bool,
    /// The peer has ended its side: behind its last bytes there is the end to read.
    pub(crate) ended: bool,
}

impl Conn {
    pub(crate) fn new(socket: OwnedFd, peer: Peer, listener: u16) -> Self {
        Conn {
            socket: Some(socket),
            phase: Phase::Idle,
            state: State::new(),
            peer,
            listener,
            watched: Watched::Nothing,
            announces: false,
            noted: Noted::default(),
            answered_at: 0,
            deadline: 0,
            reminder: 0,
            counted: None,
        }
    }

    /// What it is doing.
    pub(crate) fn stand(&self) -> Stand {
        match self.phase {
            Phase::Idle => Stand::Idle,
            Phase::Head(_) | Phase::Body(_) => Stand::Reading,
            Phase::Running | Phase::Dialogue(_) => Stand::Running,
            Phase::Writing(..) => Stand::Writing,
            Phase::Lingering(_) => Stand::Lingering,
        }
    }

    /// Whether closing it loses nothing.
    pub(crate) fn is_idle(&self) -> bool {
        matches!(self.phase, Phase::Idle)
    }

    /// Whether a request has begun on it, or is answered: then closing it cuts that.
    pub(crate) fn is_busy(&self) -> bool {
        match &self.phase {
            Phase::Idle | Phase::Lingering(_) => false,
            Phase::Head(request) => !self.announces && !request.is_blank(),
            Phase::Body(_) | Phase::Running | Phase::Dialogue(_) | Phase::Writing(..) => true,
        }
    }

    /// Whether both sides have said all that they will.
    pub(crate) fn is_settled(&self) -> bool {
        matches!(self.phase, Phase::Lingering(Some(Farewell::Said)))
    }
}
