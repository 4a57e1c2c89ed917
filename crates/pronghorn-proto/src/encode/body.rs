//! The body on the wire: what of it may go out, and how it ends.

use super::{BodyFraming, Plan};

/// Counts a response's body against its framing: nothing beyond a declared length is sent, and
/// a body that falls short is noticed.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct BodyWriter {
    framing: BodyFraming,
}

impl BodyWriter {
    /// A writer for the body of a response planned so.
    pub fn new(plan: &Plan) -> Self {
        Self { framing: plan.framing }
    }

    /// Takes a piece of `len` bytes and gives how many of its first bytes go to the wire: fewer
    /// than `len` when the rest is beyond the declared length, 0 where no body is allowed.
    pub fn admit(&mut self, len: usize) -> usize {
        match &mut self.framing {
            BodyFraming::None => 0,
            BodyFraming::Chunked | BodyFraming::UntilClose => len,
            BodyFraming::Length(left) => {
                let admitted = usize::try_from(*left).map_or(len, |left| left.min(len));
                *left -= admitted as u64;
                admitted
            }
        }
    }

    /// Whether each piece needs a [`chunk_head`] before it and a CRLF behind it.
    pub fn is_chunked(&self) -> bool {
        self.framing == BodyFraming::Chunked
    }

    /// Ends the body and says what ends it on the wire.
    ///
    /// # Errors
    /// [`Short`] if fewer bytes came than were declared: abort the connection, so that the
    /// client does not take the next response for the rest.
    pub fn finish(self) -> Result<End, Short> {
        match self.framing {
            BodyFraming::Length(missing) if missing > 0 => Err(Short { missing }),
            BodyFraming::Chunked => Ok(End::LastChunk),
            _ => Ok(End::Complete),
        }
    }
}

/// What is still due after the last piece of a body.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// Nothing.
    Complete,
    /// [`LAST_CHUNK`].
    LastChunk,
}

/// A body that ended before its declared length.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Short {
    /// The bytes that never came.
    pub missing: u64,
}

impl std::fmt::Display for Short {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the response body is {} bytes shorter than its Content-Length", self.missing)
    }
}

impl std::error::Error for Short {}

/// Writes the line before a chunk of `len` bytes, the length in hexadecimal and CRLF, and gives
/// its length. `len` is not 0: an empty chunk would end the body.
pub fn chunk_head(len: usize, out: &mut [u8; 18]) -> usize {
    debug_assert!(len > 0, "an empty chunk ends the body");
    let digits = (usize::BITS - len.leading_zeros()).div_ceil(4) as usize;
    let mut rest = len;
    for place in out[..digits].iter_mut().rev() {
        *place = b"0123456789abcdef"[rest & 0xF];
        rest >>= 4;
    }
    out[digits..digits + 2].copy_from_slice(b"\r\n");
    digits + 2
}

/// The chunk that ends a chunked body without trailers.
pub const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

#[cfg(test)]
mod tests {
    use super::*;

    fn writer(framing: BodyFraming) -> BodyWriter {
        BodyWriter::new(&Plan { framing, persistent: true, content_length: None })
    }

    /// Framing, pieces, what is admitted of each, and the end.
    type Case = (BodyFraming, &'static [usize], &'static [usize], Result<End, Short>);

    #[test]
    fn pieces_are_admitted_by_the_framing() {
        let table: [Case; 9] = [
            (BodyFraming::None, &[], &[], Ok(End::Complete)),
            (BodyFraming::Length(5), &[5], &[5], Ok(End::Complete)),
            (BodyFraming::Length(5), &[2, 0, 3], &[2, 0, 3], Ok(End::Complete)),
            (BodyFraming::Length(0), &[], &[], Ok(End::Complete)),
            (BodyFraming::Length(u64::MAX), &[9], &[9], Err(Short { missing: u64::MAX - 9 })),
            (BodyFraming::Chunked, &[2, 0, 3], &[2, 0, 3], Ok(End::LastChunk)),
            (BodyFraming::Chunked, &[], &[], Ok(End::LastChunk)),
            (BodyFraming::UntilClose, &[2, 3], &[2, 3], Ok(End::Complete)),
            (BodyFraming::UntilClose, &[], &[], Ok(End::Complete)),
        ];
        for (framing, pieces, admitted, end) in table {
            let mut writer = writer(framing);
            let got: Vec<_> = pieces.iter().map(|&len| writer.admit(len)).collect();
            assert_eq!((&got[..], writer.finish()), (admitted, end), "{framing:?}");
        }
    }

    #[test]
    fn rule_21_a_response_without_body_admits_nothing() {
        let mut writer = writer(BodyFraming::None);
        assert_eq!((writer.admit(0), writer.admit(1), writer.admit(usize::MAX)), (0, 0, 0));
        assert_eq!(writer.finish(), Ok(End::Complete));
    }

    #[test]
    fn rule_22_a_surplus_is_cut_and_a_short_body_reported() {
        let mut surplus = writer(BodyFraming::Length(5));
        assert_eq!((surplus.admit(3), surplus.admit(3), surplus.admit(3)), (3, 2, 0));
        assert_eq!(surplus.finish(), Ok(End::Complete));
        let mut short = writer(BodyFraming::Length(5));
        assert_eq!((short.admit(3), short.finish()), (3, Err(Short { missing: 2 })));
    }

    #[test]
    fn only_chunks_need_chunk_heads() {
        assert!(writer(BodyFraming::Chunked).is_chunked());
        for framing in [BodyFraming::None, BodyFraming::Length(1), BodyFraming::UntilClose] {
            assert!(!writer(framing).is_chunked());
        }
    }

    #[test]
    fn chunk_heads_are_hexadecimal() {
        let table = [
            (1, "1\r\n"),
            (15, "f\r\n"),
            (16, "10\r\n"),
            (0xABC, "abc\r\n"),
            (65_536, "10000\r\n"),
            (usize::MAX, "ffffffffffffffff\r\n"),
        ];
        for (len, text) in table {
            let mut out = [0; 18];
            let written = chunk_head(len, &mut out);
            assert_eq!(&out[..written], text.as_bytes());
        }
    }
}
