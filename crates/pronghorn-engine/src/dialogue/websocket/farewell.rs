//! A WebSocket that has ended for the server, while its client may still say something.

use pronghorn_proto::websocket::{Decoder, Event, Limits};

use super::{Compression, WebSocket};

/// What its client may still say.
pub(crate) enum Farewell {
    /// Nothing: both sides have sent their close frames.
    Said,
    /// Frames, which nobody gets, up to a close frame.
    Awaited(Box<Decoder>),
}

impl Farewell {
    /// The client has sent `bytes`. `limit`: the longest message it may send.
    pub(crate) fn hear(
        &mut self,
        mut bytes: &mut [u8],
        limit: usize,
        compression: &mut Compression,
    ) {
        let Farewell::Awaited(decoder) = self else { return };
        let limits = Limits { message: limit };
        loop {
            match decoder.advance(&mut bytes, &limits, &mut compression.inflaters) {
                Ok(None) => return,
                Ok(Some(Event::Close(_))) => return *self = Farewell::Said,
                Ok(Some(_)) => {}
                // Where its frames end cannot be told any more.
                Err(_) => return,
            }
        }
    }
}

impl WebSocket {
    /// What is left to hear when it has ended; none if that cannot be told.
    pub(in crate::dialogue) fn into_farewell(
        mut self,
        limit: usize,
        compression: &mut Compression,
    ) -> Option<Farewell> {
        if self.client_has_closed {
            return Some(Farewell::Said);
        }
        if self.decoder.is_over() {
            return None;
        }
        let mut farewell = Farewell::Awaited(Box::new(self.decoder));
        farewell.hear(&mut self.input, limit, compression);
        Some(farewell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Frames with a mask that changes nothing: a text, a ping, and a close.
    const TEXT: &[u8] = b"\x81\x85\0\0\0\0hello";
    const PING: &[u8] = b"\x89\x80\0\0\0\0";
    const CLOSE: &[u8] = b"\x88\x82\0\0\0\0\x03\xe8";

    /// A farewell that has heard these pieces.
    fn heard<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Farewell {
        let mut farewell = Farewell::Awaited(Box::new(Decoder::new(None)));
        let mut compression = Compression::default();
        for piece in pieces {
            farewell.hear(&mut piece.to_vec(), 100, &mut compression);
        }
        farewell
    }

    #[test]
    fn all_is_said_with_the_close_frame_however_it_comes() {
        let all = [TEXT, PING, CLOSE].concat();
        assert!(matches!(heard([&all[..]]), Farewell::Said));
        assert!(matches!(heard(all.chunks(1)), Farewell::Said));
        assert!(matches!(heard(all[..all.len() - 1].chunks(1)), Farewell::Awaited(_)));
    }

    #[test]
    fn behind_what_is_no_frame_nothing_is_told() {
        assert!(matches!(heard([b"\x83\x80\0\0\0\0", CLOSE]), Farewell::Awaited(_)));
    }
}
