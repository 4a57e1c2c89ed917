//! The engine of the Pronghorn web server: who moves the bytes.
//!
//! One [`Server`] has listeners, an event loop and a few threads, and answers requests by a [`Handler`]. It is usable from
//! Rust alone; `examples/hello.rs` is a whole server.

mod access;
mod address;
mod body;
mod client;
mod config;
mod conn;
mod control;
mod datagram;
mod date;
mod dialogue;
mod early;
mod event_loop;
mod exchange;
mod handler;
mod hosted;
mod listener;
mod metrics;
mod own;
mod replacement;
mod reply;
mod request;
mod request_id;
mod sched;
mod server;
mod shared;
mod signals;
mod statsd;
mod sys;
mod timer;
mod untold;
mod watchdog;
mod witness;

pub use access::{AccessLog, Format, FormatError, LogTarget};
pub use address::{Local, Peer};
pub use body::{Body, BodyError};
pub use client::{
    Believed, Client, Forwarded, ForwardedHeader, Network, Peers, Proxies, Scheme, Trusted,
};
pub use config::{Config, Deadlines};
pub use conn::Retained;
pub use control::{Control, INTERRUPTED, Order, QUIT};
pub use datagram::DatagramAddress;
pub use dialogue::{Dialogue, Next, Payload, Piece, Received, Room, Summary, WebSockets};
pub use early::{Early, Kept};
pub use exchange::{Exchange, Gone, WriteError};
pub use handler::{BodyBuffer, Handler};
pub use hosted::{Hosted, Late, Occurrence};
pub use listener::{Access, Bind, Listener};
pub use metrics::{BlockIndex, Board, Metrics, Restart, WorkerState};
pub use replacement::{Reason, Replacement};
pub use sched::QUICK;
pub use server::{Server, ServerHandle};
pub use statsd::{Statsd, StatsdSettings, tell_workers};
pub use sys::{
    ReservingAllocator, SignalQueue, adopt_descriptor, exit_now, forget_clean_pages, hold_signals,
    lock_folder, millis, note_fork, open_standard_streams, random_number, release_signals,
    resident_bytes,
};
pub use watchdog::{RequestTask, Stack, Work};
pub use witness::Witness;
