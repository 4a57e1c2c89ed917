//! HTTP/1.1 without I/O: what the bytes of requests and responses mean.

pub mod date;
pub mod encode;
pub mod state;
pub mod status;
