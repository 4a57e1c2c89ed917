//! Messages that wait for the application.

use std::borrow::Cow;

use pronghorn_proto::websocket::Kind;

use crate::handler::BodyBuffer;
use crate::sys;

/// One that waits.
pub(super) struct Message {
    pub(super) kind: Kind,
    pub(super) length: usize,
    held: Held,
}

/// Where it waits.
enum Held {
    Owned(Vec<u8>),
    Lent(Box<dyn BodyBuffer>),
}

/// The payload of a message, for the application.
pub enum Payload<'a> {
    /// To be copied.
    Slice(&'a [u8]),
    /// All of it, in memory that the handler lent.
    Lent(Box<dyn BodyBuffer>),
}

impl Message {
    /// Keeps a message. Bytes that are many are copied once only: to where the application gets them, if `lend` gives that.
    pub(super) fn keep(
        kind: Kind,
        bytes: Cow<'_, [u8]>,
        lend: impl FnOnce(usize) -> Option<Box<dyn BodyBuffer>>,
    ) -> Self {
        let length = bytes.len();
        let lent = match (kind, &bytes) {
            (Kind::Binary, Cow::Borrowed(_)) if length >= LEAST_LENT_MESSAGE => lend(length),
            _ => None,
        };
        let held = match lent {
            Some(mut buffer) => {
                sys::append_lent(&mut *buffer, &bytes);
                Held::Lent(buffer)
            }
            None => Held::Owned(bytes.into_owned()),
        };
        Message { kind, length, held }
    }

    /// Gives it to `take`.
    pub(super) fn give(self, take: &mut dyn FnMut(Kind, Payload<'_>)) {
        match self.held {
            Held::Owned(bytes) => take(self.kind, Payload::Slice(&bytes)),
            Held::Lent(buffer) => take(self.kind, Payload::Lent(buffer)),
        }
    }
}

/// Below this a second copy costs less than another object.
const LEAST_LENT_MESSAGE: usize = 1024;
