//! WebSockets (RFC 6455) and permessage-deflate (RFC 7692): the handshake, frames, messages.
//!
//! [`Handshake::read`] says whether a request opens a WebSocket and [`Handshake::put_head`] writes
//! the answer. From then on a [`Decoder`] makes events of what the client sends and an [`Encoder`] makes frames
//! of messages. Both belong to one connection and are small; what compression needs is borrowed from
//! [`Inflaters`] and [`Deflaters`], which a thread has for all its connections.
//!
//! ```
//! use pronghorn_proto::websocket::{self, *};
//!
//! let (mut inflaters, mut deflaters) = (Inflaters::default(), Deflaters::default());
//! let limits = Limits::default();
//! let mut decoder = Decoder::new(None);
//! let mut encoder = Encoder::new(None);
//!
//! // What was read from the socket: a message of five bytes and the beginning of another.
//! let mut received = *b"\x81\x85\x00\x00\x00\x00hello\x81";
//! let mut input = &mut received[..];
//! let mut out = Vec::new();
//! while let Some(event) = decoder.advance(&mut input, &limits, &mut inflaters)? {
//!     match event {
//!         Event::Text(text) => encoder.put(Kind::Text, &text, &mut deflaters, &mut out),
//!         Event::Binary(bytes) => encoder.put(Kind::Binary, &bytes, &mut deflaters, &mut out),
//!         Event::Ping(payload) => websocket::put_pong(&payload, &mut out),
//!         Event::Pong(_) => {}
//!         Event::Close(close) => websocket::put_close(close.code, "", &mut out),
//!     }
//! }
//! assert_eq!(out, b"\x81\x05hello");
//! # Ok::<(), Fault>(())
//! ```
//!
//! A [`Fault`] is answered with a close frame of its code, and the connection ends.

pub mod close;
pub mod deflate;
pub mod handshake;

mod assembly;
mod decoder;
mod encode;
mod event;
mod fault;
mod frame;
mod limits;
mod mask;
mod utf8;

pub use close::Close;
pub use decoder::Decoder;
pub use deflate::{Agreement, Deflaters, Inflaters};
pub use encode::{Encoder, head, put_close, put_ping, put_pong};
pub use event::{Event, Kind};
pub use fault::Fault;
pub use frame::{FrameHead, Opcode};
pub use handshake::Handshake;
pub use limits::Limits;
pub use mask::mask;
