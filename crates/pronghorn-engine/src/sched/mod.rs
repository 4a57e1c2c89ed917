//! Scheduling of requests on threads: leader and followers, promoted lazily.

mod drain;
mod follower;
mod host;
mod leader;
mod monitor;
mod state;
mod thread;

pub use drain::QUICK;
pub(crate) use drain::cut;
pub(crate) use monitor::start_monitor;
pub(crate) use state::Sched;
pub(crate) use thread::{EngineThread, FIRST, LAST_WORDS};
