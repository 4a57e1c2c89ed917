//! Metrics: counters in memory that all processes of a server share, and their text for Prometheus.
//!
//! Each worker counts in a block of its own. Whoever is asked adds up the blocks of all, so one answer tells of the whole server.

mod block;
mod board;
mod histogram;
mod meter;
mod render;

pub use block::{Restart, WorkerState};
pub(crate) use block::{Shed, Timeout};
pub use board::{BlockIndex, Board};
pub use meter::Metrics;
pub(crate) use meter::{Answered, Stand};
pub(crate) use render::CONTENT_TYPE;
