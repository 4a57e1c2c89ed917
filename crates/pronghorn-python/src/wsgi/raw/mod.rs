//! The raw CPython path of WSGI: what every request does, without PyO3's conversions. It builds on [`crate::raw`], whose rules it keeps.

mod callable;
mod environ;
mod forwarded;
mod link;

pub(super) use callable::Callables;
pub(super) use environ::Environ;
pub(super) use link::Link;
