//! What is known of recent connections: their peer and, once it came twice, everything that follows the target in the head.
//!
//! Most clients send the same fields with each request of a connection. Their values are then in a dict that is copied whole.

use std::cell::Cell;

use pyo3::{prelude::*, types::PyDict};

use crate::attach::Object;

/// A direct-mapped table of connections. What it holds lives as long as the process.
pub(super) struct Connections(Box<[Cell<Option<Box<Connection>>>]>);

// SAFETY: the cells are touched only with the interpreter's lock held, and each access is a whole swap.
unsafe impl Send for Connections {}
// SAFETY: as above.
unsafe impl Sync for Connections {}

impl Connections {
    pub(super) fn new() -> Self {
        Connections((0..SLOTS).map(|_| Cell::new(None)).collect())
    }

    /// Takes out what is known of connection `id`.
    #[inline]
    pub(super) fn take(&self, _py: Python<'_>, id: Id) -> Option<Box<Connection>> {
        self.slot(id).take().filter(|connection| connection.id == id)
    }

    /// Puts it back, or in for the first time.
    #[inline]
    pub(super) fn put(&self, _py: Python<'_>, connection: Box<Connection>) {
        self.slot(connection.id).set(Some(connection));
    }

    fn slot(&self, id: Id) -> &Cell<Option<Box<Connection>>> {
        &self.0[id.0 as usize % SLOTS]
    }
}

/// The engine's name of a connection: index and generation.
pub(super) type Id = (u32, u32);

/// What is known of one connection.
pub(super) struct Connection {
    id: Id,
    peer: Option<Peer>,
    /// The fingerprint of the last head's rest.
    last: u64,
    repeated: Option<Repeated>,
}

/// `REMOTE_ADDR` and `REMOTE_PORT`.
pub(super) struct Peer {
    pub(super) addr: Object,
    pub(super) port: Object,
}

/// The rest of a head that came twice, and the environ made of it.
struct Repeated {
    rest: Box<[u8]>,
    environ: Object,
}

impl Connection {
    /// A connection that was not seen before; a Unix socket has no `peer`.
    pub(super) fn new(id: Id, peer: Option<Peer>) -> Box<Self> {
        Box::new(Connection { id, peer, last: 0, repeated: None })
    }

    pub(super) fn peer(&self) -> Option<&Peer> {
        self.peer.as_ref()
    }

    /// A new environ with all that `rest` says, when that is known.
    ///
    /// # Errors
    /// `MemoryError`.
    #[inline]
    pub(super) fn environ<'py>(
        &self,
        py: Python<'py>,
        rest: &[u8],
    ) -> Option<PyResult<Bound<'py, PyDict>>> {
        let repeated = self.repeated.as_ref().filter(|repeated| *repeated.rest == *rest)?;
        Some(
            repeated
                .environ
                .bind(py)
                .cast::<PyDict>()
                .map_err(PyErr::from)
                .and_then(|dict| dict.copy()),
        )
    }

    /// Notes that `rest` made `environ`, and keeps a copy when it is the second time in a row.
    ///
    /// # Errors
    /// `MemoryError`.
    pub(super) fn note(&mut self, rest: &[u8], environ: &Bound<'_, PyDict>) -> PyResult<()> {
        if rest.len() > LONGEST {
            return Ok(());
        }
        let fingerprint = fingerprint(rest);
        if self.last == fingerprint {
            let environ = Object::new(environ.copy()?);
            self.repeated = Some(Repeated { rest: rest.into(), environ });
        }
        self.last = fingerprint;
        Ok(())
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
/// The longest rest of a head that is kept: more is seldom the same twice.
const LONGEST: usize = 2048;
