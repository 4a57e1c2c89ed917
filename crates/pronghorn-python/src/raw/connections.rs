//! What is known of recent connections: the peer, and the environ or scope of a head that repeats.
//!
//! Most clients send the same fields with each request of a connection, and some ask for the same target again. What came twice
//! in a row is kept as a dict, and then a copy of it replaces a lookup and an insertion for each field. It is used for nobody but
//! its connection, credentials and all, until another connection takes its place in the table.

use std::cell::Cell;

use pyo3::{prelude::*, types::PyDict};

use crate::attach::Object;

/// A direct-mapped table of connections. What it holds lives as long as the process.
pub(crate) struct Connections<P>(Box<[Slot<P>]>);

type Slot<P> = Cell<Option<Box<Connection<P>>>>;

// SAFETY: the cells are touched only with the interpreter's lock held, and each access is a whole swap.
unsafe impl<P> Send for Connections<P> {}
// SAFETY: as above.
unsafe impl<P> Sync for Connections<P> {}

impl<P> Connections<P> {
    /// An empty table.
    pub(crate) fn new() -> Self {
        Connections((0..SLOTS).map(|_| Cell::new(None)).collect())
    }

    /// Takes out what is known of connection `id`.
    #[inline]
    pub(crate) fn take(&self, _py: Python<'_>, id: Id) -> Option<Box<Connection<P>>> {
        self.slot(id).take().filter(|connection| connection.id == id)
    }

    /// Puts it back, or in for the first time.
    #[inline]
    pub(crate) fn put(&self, _py: Python<'_>, connection: Box<Connection<P>>) {
        self.slot(connection.id).set(Some(connection));
    }

    fn slot(&self, id: Id) -> &Slot<P> {
        &self.0[id.0 as usize % SLOTS]
    }
}

/// The engine's name of a connection: index and generation.
pub(crate) type Id = (u32, u32);

/// What is known of one connection.
pub(crate) struct Connection<P> {
    id: Id,
    /// The peer as the interface writes it.
    pub(crate) peer: P,
    /// By what follows the target in the head; below it, by the target.
    pub(crate) heads: Memo<Memo<()>>,
}

impl<P> Connection<P> {
    /// A connection that was not seen before.
    pub(crate) fn new(id: Id, peer: P) -> Box<Self> {
        Box::new(Connection { id, peer, heads: Memo::default() })
    }
}

/// The environ that some bytes of a head gave, once they came twice in a row.
#[derive(Default)]
pub(crate) struct Memo<T> {
    /// The fingerprint of the bytes that came last.
    last: u64,
    kept: Option<Kept<T>>,
}

/// An environ, and what is known of requests that had the same bytes.
pub(crate) struct Kept<T> {
    bytes: Box<[u8]>,
    environ: Object,
    pub(crate) below: T,
}

impl<T: Default> Memo<T> {
    /// What is kept, if it is for `bytes`.
    #[inline]
    pub(crate) fn recall(&mut self, bytes: &[u8]) -> Option<&mut Kept<T>> {
        self.kept.as_mut().filter(|kept| *kept.bytes == *bytes)
    }

    /// Notes that `bytes` gave `environ`, and keeps a copy at the second time in a row: whether it does so now.
    ///
    /// # Errors
    /// `MemoryError`.
    pub(crate) fn note(&mut self, bytes: &[u8], environ: &Bound<'_, PyDict>) -> PyResult<bool> {
        if bytes.len() > LONGEST {
            return Ok(false);
        }
        let fingerprint = fingerprint(bytes);
        let repeats = self.last == fingerprint;
        if repeats {
            let environ = Object::new(environ.copy()?);
            self.kept = Some(Kept { bytes: bytes.into(), environ, below: T::default() });
        }
        self.last = fingerprint;
        Ok(repeats)
    }
}

impl<T> Kept<T> {
    /// A new environ like the one that is kept.
    ///
    /// # Errors
    /// `MemoryError`.
    #[inline]
    pub(crate) fn environ<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        self.environ.bind(py).cast::<PyDict>()?.copy()
    }
}

/// Tells nearly all texts apart; equality is checked where it matters.
fn fingerprint(bytes: &[u8]) -> u64 {
    let (words, tail) = bytes.as_chunks::<8>();
    let tail = tail.iter().fold(1, |word, &byte| word << 8 | u64::from(byte));
    let words = words.iter().map(|word| u64::from_le_bytes(*word));
    words
        .chain([tail])
        .fold(0, |mix, word| (mix ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(31))
}

const SLOTS: usize = 256;
/// The most bytes that are kept: more is seldom the same twice.
const LONGEST: usize = 2048;
