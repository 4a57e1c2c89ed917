//! Memory that the kernel fills: what was read is initialised.
#![allow(unsafe_code)]

use std::mem::MaybeUninit;

use crate::handler::BodyBuffer;

/// Counts the first `filled` bytes of the spare capacity, which a read has just filled, as contents.
pub(crate) fn set_filled(buffer: &mut Vec<u8>, filled: usize) {
    assert!(filled <= buffer.capacity() - buffer.len());
    // SAFETY: within the capacity, and the caller's read initialised these bytes.
    unsafe { buffer.set_len(buffer.len() + filled) }
}

/// Counts the first `filled` bytes of the buffer's spare memory, which a read or [`fill`] has just filled, as contents.
pub(crate) fn advance(buffer: &mut dyn BodyBuffer, filled: usize) {
    assert!(filled <= buffer.spare().len());
    // SAFETY: within the spare memory, and the caller's read or copy initialised these bytes.
    unsafe { buffer.advance(filled) }
}

/// Copies as much of `data` as fits; gives how much that is.
pub(crate) fn fill(spare: &mut [MaybeUninit<u8>], data: &[u8]) -> usize {
    let count = spare.len().min(data.len());
    for (place, byte) in spare.iter_mut().zip(&data[..count]) {
        place.write(*byte);
    }
    count
}
