//! The raw CPython path, as far as both interfaces use it: types, arguments, `bytes` and `str` without PyO3's conversions.
//!
//! A function here, in `wsgi/raw` and in `asgi/raw` either holds the interpreter, by a `Python` token or as its SAFETY note says,
//! or touches no object.

mod arguments;
mod bytes;
mod cache;
mod class;
mod connections;
mod dict;
mod entry;
mod file;
mod strings;

pub(crate) use arguments::{Arguments, missing};
pub(crate) use bytes::{BytesBuffer, Kept, copied, copied_from, kept_text};
pub(crate) use cache::{Cache, Latin1, Octets, mix, remember};
pub(crate) use class::{Callable, Class, Instance, slot};
pub(crate) use connections::{Connection, Connections};
pub(crate) use dict::set;
pub(crate) use entry::{enter, guarded, raise};
pub(crate) use file::duplicate;
pub(crate) use strings::{latin1, one_byte};
