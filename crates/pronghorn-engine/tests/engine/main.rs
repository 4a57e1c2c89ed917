//! The engine with handlers in Rust, over real sockets.

mod client;
mod requests;
mod server;
