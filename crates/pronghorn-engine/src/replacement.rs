//! Asking whoever started this process for another one in its place.

use std::fmt;
use std::sync::Arc;

/// Why a process wants to be replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// It has served as many requests as it may.
    Requests,
    /// It has run as long as it may.
    Lifetime,
    /// It takes more memory than it may.
    Memory,
    /// A request does not come back, although it was interrupted.
    Stuck,
    /// The application's files have changed.
    Changed,
}

/// How to ask. It goes on serving until it is told to drain.
#[derive(Clone)]
pub struct Replacement(Arc<dyn Fn(Reason) + Send + Sync>);

impl Replacement {
    /// `ask` is called from any thread, must not wait, and may be called again and again.
    pub fn new(ask: impl Fn(Reason) + Send + Sync + 'static) -> Self {
        Replacement(Arc::new(ask))
    }

    /// Asks for another process.
    pub fn ask(&self, reason: Reason) {
        (self.0)(reason);
    }
}

impl fmt::Debug for Replacement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Replacement")
    }
}
