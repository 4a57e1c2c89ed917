//! Receiving the body of a request, whatever its framing.

use crate::chunk::ChunkDecoder;
use crate::error::Error;
use crate::framing::Framing;
use crate::limits::Limits;

/// Finds the bytes of one request body in what a connection receives.
#[derive(Clone, Debug)]
pub enum BodyDecoder {
    /// So many bytes are still to come; 0 when there is no body or no more of it.
    Length(u64),
    /// The body comes in chunks.
    Chunked(ChunkDecoder),
}

/// What [`BodyDecoder::decode`] did with its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// Bytes of the input that belong to this request.
    pub consumed: usize,
    /// Whether the body is complete. If not, all of the input was consumed.
    pub complete: bool,
}

impl BodyDecoder {
    /// A decoder for a body delimited by `framing`.
    pub fn new(framing: Framing, limits: &Limits) -> BodyDecoder {
        match framing {
            Framing::None => BodyDecoder::Length(0),
            Framing::Length(length) => BodyDecoder::Length(length),
            Framing::Chunked => BodyDecoder::Chunked(ChunkDecoder::new(limits)),
        }
    }

    /// Takes the next bytes received, and gives `sink` those that are body data, in order and in
    /// slices of `input`. Stops at the end of the body: what follows is the next request.
    ///
    /// Errors are final; the data before the fault has been given to `sink` by then.
    pub fn decode(&mut self, input: &[u8], sink: &mut dyn FnMut(&[u8])) -> Result<Decoded, Error> {
        let consumed = match self {
            BodyDecoder::Length(remaining) => take_length(remaining, input, sink),
            BodyDecoder::Chunked(chunks) => chunks.decode(input, sink)?,
        };
        Ok(Decoded { consumed, complete: self.is_complete() })
    }

    /// How many bytes are still to come; `None` for a chunked body, where no one knows.
    pub fn remaining(&self) -> Option<u64> {
        match self {
            BodyDecoder::Length(remaining) => Some(*remaining),
            BodyDecoder::Chunked(_) => None,
        }
    }

    /// Notes that `n` of the bytes [`remaining`](Self::remaining) counted were received without
    /// passing through [`decode`](Self::decode); true when the body is complete. A chunked body
    /// has no such bytes: nothing changes.
    pub fn advance(&mut self, n: u64) -> bool {
        if let BodyDecoder::Length(remaining) = self {
            *remaining = remaining.saturating_sub(n);
        }
        self.is_complete()
    }

    /// Whether the whole body has been received.
    pub fn is_complete(&self) -> bool {
        match self {
            BodyDecoder::Length(remaining) => *remaining == 0,
            BodyDecoder::Chunked(chunks) => chunks.is_complete(),
        }
    }
}

fn take_length(remaining: &mut u64, input: &[u8], sink: &mut dyn FnMut(&[u8])) -> usize {
    let taken = usize::try_from(*remaining).unwrap_or(usize::MAX).min(input.len());
    if taken > 0 {
        sink(&input[..taken]);
        *remaining -= taken as u64;
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_counts_down_either_way() {
        let mut decoder = BodyDecoder::new(Framing::Length(10), &Limits::default());
        let mut body = Vec::new();
        let decoded = decoder.decode(b"abcd", &mut |data| body.extend_from_slice(data));
        assert_eq!(decoded, Ok(Decoded { consumed: 4, complete: false }));
        assert_eq!(decoder.remaining(), Some(6));
        assert!(!decoder.advance(5));
        let decoded = decoder.decode(b"eGET", &mut |data| body.extend_from_slice(data));
        assert_eq!(decoded, Ok(Decoded { consumed: 1, complete: true }));
        assert_eq!(body, b"abcde");
    }

    #[test]
    fn no_body_is_complete_at_once() {
        let mut decoder = BodyDecoder::new(Framing::None, &Limits::default());
        assert!(decoder.is_complete());
        let decoded = decoder.decode(b"GET", &mut |_| panic!("there is no body"));
        assert_eq!(decoded, Ok(Decoded { consumed: 0, complete: true }));
    }

    #[test]
    fn a_chunked_body_does_not_advance_by_bytes() {
        let mut decoder = BodyDecoder::new(Framing::Chunked, &Limits::default());
        assert_eq!(decoder.remaining(), None);
        assert!(!decoder.advance(100));
        let decoded = decoder.decode(b"0\r\n\r\nGET", &mut |_| panic!("there is no data"));
        assert_eq!(decoded, Ok(Decoded { consumed: 5, complete: true }));
    }
}
