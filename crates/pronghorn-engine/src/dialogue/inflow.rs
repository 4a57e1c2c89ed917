//! The body of a request while its application takes it in pieces: read ahead up to a bound, so that a slow application stops its
//! client and not the server.

use std::io;
use std::mem;
use std::os::fd::AsFd;

use pronghorn_proto::body::BodyDecoder;
use pronghorn_proto::error::Error;
use pronghorn_proto::framing::Framing;
use pronghorn_proto::limits::Limits;

use crate::body::{SCRATCH, reserve};
use crate::handler::BodyBuffer;
use crate::request::LEAST_LENT;
use crate::sys;

/// A body on its way to an application.
pub(crate) struct Inflow {
    decoder: BodyDecoder,
    held: Held,
    /// What was read beyond the body.
    pub(super) rest: Vec<u8>,
    received: u64,
    /// How long the application has waited for it, and since when it does, in milliseconds.
    waited: u64,
    waits_since: u64,
    /// Why no more of it comes.
    pub(super) failed: Option<Error>,
}

/// What was read and not taken.
enum Held {
    Nothing,
    Memory(Vec<u8>),
    Lent(Box<dyn BodyBuffer>, usize),
}

/// A piece of a body.
pub enum Piece {
    /// Bytes.
    Memory(Vec<u8>),
    /// Bytes at the beginning of memory that the handler lent.
    Lent(Box<dyn BodyBuffer>),
}

/// One read.
pub(super) struct Read {
    /// Bytes read from the socket; 0 is the peer's end.
    pub(super) bytes: usize,
    /// The socket is empty now.
    pub(super) drained: bool,
}

impl Inflow {
    pub(super) fn new(framing: Framing, limits: &Limits) -> Self {
        Inflow {
            decoder: BodyDecoder::new(framing, limits),
            held: Held::Nothing,
            rest: Vec::new(),
            received: 0,
            waited: 0,
            waits_since: 0,
            failed: None,
        }
    }

    /// Whether all of the body was read.
    pub(super) fn is_complete(&self) -> bool {
        self.decoder.is_complete()
    }

    /// Whether nothing waits to be taken.
    pub(super) fn holds_nothing(&self) -> bool {
        matches!(self.held, Held::Nothing)
    }

    /// Whether there is nothing for the application before more comes.
    pub(super) fn awaits_bytes(&self) -> bool {
        self.holds_nothing() && self.is_open()
    }

    /// Whether more is to come.
    pub(super) fn is_open(&self) -> bool {
        !self.is_complete() && self.failed.is_none()
    }

    /// The application waits for it from now on. Gives when its first byte could have come, had the application waited all the
    /// time, and how many bytes have come.
    pub(super) fn begin_wait(&mut self, now: u64) -> (u64, u64) {
        self.waits_since = now;
        (now.saturating_sub(self.waited), self.received)
    }

    pub(super) fn end_wait(&mut self, now: u64) {
        self.waited += now.saturating_sub(self.waits_since);
    }

    /// Whether `bound` bytes wait to be taken, or the memory for them is full.
    pub(super) fn is_full(&self, bound: usize) -> bool {
        match &self.held {
            Held::Nothing => false,
            Held::Memory(data) => data.len() >= bound,
            Held::Lent(_, left) => *left == 0,
        }
    }

    /// Takes what waits.
    pub(super) fn take(&mut self) -> Option<Piece> {
        match mem::replace(&mut self.held, Held::Nothing) {
            Held::Nothing => None,
            Held::Memory(data) => Some(Piece::Memory(data)),
            Held::Lent(buffer, _) => Some(Piece::Lent(buffer)),
        }
    }

    /// Takes `input`, which came with the head. Of a body of known length it stays where it is; gives how many bytes of it belong to
    /// the body.
    pub(super) fn feed(&mut self, input: &[u8]) -> Result<usize, Error> {
        if let Some(left) = self.decoder.remaining() {
            let there = usize::try_from(left).unwrap_or(usize::MAX).min(input.len());
            self.decoder.advance(there as u64);
            self.received += there as u64;
            return Ok(there);
        }
        let mut data = Vec::new();
        let decoded = self.decoder.decode(input, &mut |part| data.extend_from_slice(part))?;
        self.received += data.len() as u64;
        if !data.is_empty() {
            self.held = Held::Memory(data);
        }
        Ok(decoded.consumed)
    }

    /// Reads once from `socket`, up to `bound` bytes of what waits. `lend` is asked for memory of a known length.
    pub(super) fn recv(
        &mut self,
        socket: impl AsFd,
        scratch: &mut Vec<u8>,
        bound: usize,
        lend: impl FnOnce(usize) -> Option<Box<dyn BodyBuffer>>,
    ) -> io::Result<Read> {
        let held_nothing = self.holds_nothing();
        let read = match self.decoder.remaining() {
            Some(left) => self.recv_known(socket, left, bound, lend),
            None => self.recv_chunks(socket, scratch),
        };
        if held_nothing && !matches!(read, Ok(Read { bytes: 1.., .. })) {
            // An empty piece would be one more event for the application.
            self.held = Held::Nothing;
        }
        read
    }

    /// Never past the body: what follows it belongs to the next request.
    fn recv_known(
        &mut self,
        socket: impl AsFd,
        left: u64,
        bound: usize,
        lend: impl FnOnce(usize) -> Option<Box<dyn BodyBuffer>>,
    ) -> io::Result<Read> {
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(bound);
        if matches!(self.held, Held::Nothing) {
            self.held = match (most as u64 >= LEAST_LENT).then(|| lend(most)).flatten() {
                Some(buffer) => Held::Lent(buffer, most),
                None => Held::Memory(Vec::new()),
            };
        }
        let (read, room) = match &mut self.held {
            Held::Lent(buffer, room) => {
                let before = *room;
                let read = sys::recv_lent(socket, buffer.as_mut())?;
                *room -= read;
                (read, before)
            }
            Held::Memory(data) => {
                let room = most.min(bound.saturating_sub(data.len())).min(SCRATCH);
                reserve(data, room)?;
                (sys::recv(socket, data, room)?, room)
            }
            Held::Nothing => (0, 0),
        };
        self.received += read as u64;
        self.decoder.advance(read as u64);
        Ok(Read { bytes: read, drained: read < room })
    }

    fn recv_chunks(&mut self, socket: impl AsFd, scratch: &mut Vec<u8>) -> io::Result<Read> {
        scratch.clear();
        reserve(scratch, SCRATCH)?;
        let read = sys::recv(socket, scratch, SCRATCH)?;
        let mut data = match mem::replace(&mut self.held, Held::Nothing) {
            Held::Memory(data) => data,
            _ => Vec::new(),
        };
        let before = data.len();
        let decoded = self.decoder.decode(scratch, &mut |part| data.extend_from_slice(part));
        self.received += (data.len() - before) as u64;
        if !data.is_empty() {
            self.held = Held::Memory(data);
        }
        match decoded {
            Ok(decoded) => self.rest.extend_from_slice(&scratch[decoded.consumed..]),
            Err(error) => self.failed = Some(error),
        }
        Ok(Read { bytes: read, drained: read < SCRATCH })
    }
}
