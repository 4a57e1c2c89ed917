//! The engine with handlers in Rust, over real sockets.

mod client;
mod given_up;
mod half_close;
mod requests;
mod server;
