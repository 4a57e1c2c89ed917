//! Positions in a buffer, so that a parsed head borrows nothing.

use core::ops::Range;

/// A run of bytes in the buffer a head was parsed from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset after the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes themselves. `buf` is the buffer the span was made for; panics if it is shorter.
    #[inline]
    pub fn of<'a>(&self, buf: &'a [u8]) -> &'a [u8] {
        &buf[self.start as usize..self.end as usize]
    }

    /// Length in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        (self.end - self.start) as usize
    }

    /// Whether it covers no byte.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// `range` as a span. Offsets beyond 32 bits do not occur: heads are bounded below that.
    #[inline]
    pub(crate) fn new(range: Range<usize>) -> Span {
        Span { start: range.start as u32, end: range.end as u32 }
    }

    /// Where `part` lies in `buf`. `part` must be a slice of `buf`.
    #[inline]
    pub(crate) fn locate(buf: &[u8], part: &[u8]) -> Span {
        let start = part.as_ptr().addr() - buf.as_ptr().addr();
        Span::new(start..start + part.len())
    }
}
