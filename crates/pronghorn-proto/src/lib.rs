//! HTTP/1.1 and WebSockets without I/O: what the bytes of a connection mean.
//!
//! Nothing here knows sockets, clocks, threads or Python. A [`HeadScanner`] reads the lines of a
//! request head, a [`RequestHead`] says what they ask for, a [`BodyDecoder`] finds the body, and every
//! way to refuse a request is an [`Error`] with one status. Sizes are bounded by [`Limits`]. What follows
//! an upgrade is in [`websocket`].
//!
//! The outcome never depends on how the bytes were cut, and no input takes more than linear work.

pub mod body;
pub mod chunk;
pub mod date;
pub mod decimal;
pub mod encode;
pub mod error;
pub mod field;
pub mod forwarded;
pub mod framing;
pub mod head;
pub mod host;
pub mod limits;
pub mod percent;
pub mod proxy;
pub mod span;
pub mod state;
pub mod status;
pub mod target;
pub mod trace;
pub mod websocket;

mod charset;
mod trailer;
mod word;

pub use body::{BodyDecoder, Decoded};
pub use error::Error;
pub use field::{Field, Known};
pub use framing::Framing;
pub use head::{HeadScanner, Method, RequestHead, Version};
pub use limits::Limits;
pub use span::Span;
pub use target::{Form, Target};
