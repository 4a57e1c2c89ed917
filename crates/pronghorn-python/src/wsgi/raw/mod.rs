//! The raw CPython path: what every request does, without PyO3's conversions.
//!
//! All `unsafe` of the WSGI layer is in this folder. A function here either holds the interpreter, by a `Python` token or as its
//! SAFETY note says, or touches no object.

mod arguments;
mod bytes;
mod cache;
mod callable;
mod connections;
mod environ;
mod file;
mod forwarded;
mod link;
mod strings;

pub(super) use bytes::{BytesBuffer, Kept, copied};
pub(super) use callable::Callables;
pub(super) use environ::Environ;
pub(super) use file::duplicate;
pub(super) use link::Link;
pub(super) use strings::one_byte;
