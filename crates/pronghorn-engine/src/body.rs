//! The body of a request: what a handler gets, and how it is taken in.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;

use pronghorn_proto::body::BodyDecoder;
use pronghorn_proto::error::Error;
use pronghorn_proto::framing::Framing;
use pronghorn_proto::limits::Limits;

use crate::handler::BodyBuffer;
use crate::sys;

/// How much is read at once where bytes do not go straight to their place.
pub(crate) const SCRATCH: usize = 64 << 10;

/// A request's body as a handler gets it.
pub enum Body {
    /// The request has none, or an empty one.
    None,
    /// All of it.
    Memory(Vec<u8>),
    /// All of it, in the memory the handler lent.
    Buffer(Box<dyn BodyBuffer>),
    /// All of it, in an unnamed file of this many bytes, from offset 0 on.
    File(File, u64),
    /// Not sent yet: the client waits for `100 Continue`. See [`Exchange::receive_body`](crate::Exchange::receive_body).
    Expected,
}

impl std::fmt::Debug for Body {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Body::None => f.write_str("None"),
            Body::Memory(data) => write!(f, "Memory({} bytes)", data.len()),
            Body::Buffer(_) => f.write_str("Buffer"),
            Body::File(_, length) => write!(f, "File({length} bytes)"),
            Body::Expected => f.write_str("Expected"),
        }
    }
}

/// Why a body did not arrive.
#[derive(Debug)]
pub enum BodyError {
    /// The client sent something that is no body, or too much of it, or not in time, or only a part.
    Refused(Error),
    /// It could not be stored.
    Storage(io::Error),
    /// The connection failed.
    Connection(io::Error),
}

impl std::fmt::Display for BodyError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            BodyError::Refused(error) => error.fmt(f),
            BodyError::Storage(error) => {
                write!(f, "the body could not be stored in a temporary file: {error}")
            }
            BodyError::Connection(error) => {
                write!(f, "the connection failed while the body was read: {error}")
            }
        }
    }
}

impl std::error::Error for BodyError {}

impl From<Error> for BodyError {
    fn from(error: Error) -> Self {
        BodyError::Refused(error)
    }
}

/// Where bodies are kept.
pub(crate) struct Storage<'a> {
    /// The most that stays in memory.
    pub(crate) memory: u64,
    /// Where larger bodies go.
    pub(crate) directory: &'a Path,
}

/// A body while it arrives.
pub(crate) struct Intake {
    decoder: BodyDecoder,
    store: Store,
    stored: u64,
    /// When its first byte could have come, in milliseconds of the monotonic clock.
    pub(crate) started: u64,
}

enum Store {
    Memory(Vec<u8>),
    Buffer(Box<dyn BodyBuffer>),
    File(File),
}

impl Intake {
    /// Prepares for a body; `lend` is asked for memory of the handler's for a body of known length.
    pub(crate) fn new(
        framing: Framing,
        limits: &Limits,
        storage: &Storage<'_>,
        started: u64,
        lend: impl FnOnce(usize) -> Option<Box<dyn BodyBuffer>>,
    ) -> Result<Self, BodyError> {
        let store = match framing {
            Framing::Length(length) if length <= storage.memory => match lend(length as usize) {
                Some(buffer) => Store::Buffer(buffer),
                None => with_capacity(length as usize, storage)?,
            },
            Framing::Length(_) => Store::File(open(storage)?),
            _ => Store::Memory(Vec::new()),
        };
        Ok(Intake { decoder: BodyDecoder::new(framing, limits), store, stored: 0, started })
    }

    /// How many bytes of it have come.
    pub(crate) fn received(&self) -> u64 {
        self.stored
    }

    /// Takes `input`; gives how many bytes of it belong to the body, and whether the body is complete.
    pub(crate) fn feed(
        &mut self,
        input: &[u8],
        storage: &Storage<'_>,
    ) -> Result<(usize, bool), BodyError> {
        let (store, stored) = (&mut self.store, &mut self.stored);
        let mut failed = None;
        let decoded = self.decoder.decode(input, &mut |data| {
            if failed.is_none() {
                failed = store.append(data, *stored, storage).err();
                *stored += data.len() as u64;
            }
        })?;
        match failed {
            Some(error) => Err(BodyError::Storage(error)),
            None => Ok((decoded.consumed, decoded.complete)),
        }
    }

    /// Reads once from `socket`. Gives what was read, and what of it lies behind the body stays in `scratch`.
    pub(crate) fn recv(
        &mut self,
        socket: impl AsFd,
        scratch: &mut Vec<u8>,
        storage: &Storage<'_>,
    ) -> Result<Received, BodyError> {
        scratch.clear();
        // Never past a body of known length: what follows it belongs to the next request.
        let left = self.decoder.remaining();
        let most = left.map_or(SCRATCH, |left| usize::try_from(left).unwrap_or(usize::MAX));
        let read = match (&mut self.store, left) {
            (Store::Memory(data), Some(_)) => sys::recv(socket, data, most),
            (Store::Buffer(buffer), Some(_)) => sys::recv_lent(socket, buffer.as_mut()),
            _ => return self.recv_decoded(socket, scratch, most.min(SCRATCH), storage),
        };
        let read = read.map_err(BodyError::Connection)?;
        self.stored += read as u64;
        Ok(Received { read, drained: read < most, complete: self.decoder.advance(read as u64) })
    }

    fn recv_decoded(
        &mut self,
        socket: impl AsFd,
        scratch: &mut Vec<u8>,
        most: usize,
        storage: &Storage<'_>,
    ) -> Result<Received, BodyError> {
        reserve(scratch, SCRATCH).map_err(BodyError::Storage)?;
        let read = sys::recv(socket, scratch, most).map_err(BodyError::Connection)?;
        let (consumed, complete) = self.feed(scratch, storage)?;
        scratch.drain(..consumed);
        Ok(Received { read, drained: read < most, complete })
    }

    /// The body, once it is complete.
    pub(crate) fn finish(self) -> Body {
        match self.store {
            Store::Memory(data) if data.is_empty() => Body::None,
            Store::Memory(data) => Body::Memory(data),
            Store::Buffer(buffer) => Body::Buffer(buffer),
            Store::File(file) => Body::File(file, self.stored),
        }
    }
}

/// One read of a body.
pub(crate) struct Received {
    /// Bytes read from the socket; 0 is the peer's end.
    pub(crate) read: usize,
    /// The socket is empty now.
    pub(crate) drained: bool,
    /// The body is complete.
    pub(crate) complete: bool,
}

impl Store {
    fn append(&mut self, data: &[u8], at: u64, storage: &Storage<'_>) -> io::Result<()> {
        match self {
            Store::File(file) => sys::write_all_at(file, data, at),
            Store::Buffer(buffer) => {
                sys::append_lent(buffer.as_mut(), data);
                Ok(())
            }
            Store::Memory(held) => {
                if fits(held, data.len(), storage) {
                    held.extend_from_slice(data);
                    return Ok(());
                }
                let file = sys::temporary_file(storage.directory)?;
                sys::write_all_at(&file, held, 0)?;
                sys::write_all_at(&file, data, at)?;
                *self = Store::File(file);
                Ok(())
            }
        }
    }
}

/// Memory for all of a body; where there is none, a file.
fn with_capacity(length: usize, storage: &Storage<'_>) -> Result<Store, BodyError> {
    let mut memory = Vec::new();
    match reserve(&mut memory, length) {
        Ok(()) => Ok(Store::Memory(memory)),
        Err(_) => Ok(Store::File(open(storage)?)),
    }
}

/// Whether so many bytes more may be held, and there is memory for them.
fn fits(held: &mut Vec<u8>, more: usize, storage: &Storage<'_>) -> bool {
    (held.len() + more) as u64 <= storage.memory && reserve(held, more).is_ok()
}

/// Makes room for `more` bytes, unless memory is short.
pub(crate) fn reserve(memory: &mut Vec<u8>, more: usize) -> io::Result<()> {
    if memory.capacity() - memory.len() >= more {
        return Ok(());
    }
    if sys::memory_is_short() {
        return Err(io::ErrorKind::OutOfMemory.into());
    }
    memory.try_reserve(more).map_err(|_| io::ErrorKind::OutOfMemory.into())
}

fn open(storage: &Storage<'_>) -> Result<File, BodyError> {
    sys::temporary_file(storage.directory).map_err(BodyError::Storage)
}
