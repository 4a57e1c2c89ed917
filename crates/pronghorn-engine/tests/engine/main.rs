//! The engine with handlers in Rust, over real sockets.

mod bodies;
mod client;
mod deadlines;
mod drain;
mod early;
mod expect;
mod given_up;
mod half_close;
mod hosted;
mod limits;
mod listeners;
mod own_answers;
mod proxies;
mod requests;
mod responses;
mod server;
mod shedding;
mod slow_readers;
mod stress;
mod watchdog;
