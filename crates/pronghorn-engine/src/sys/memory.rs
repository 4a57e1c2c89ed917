//! Memory that the kernel fills: what was read is initialised.
#![allow(unsafe_code)]

use crate::handler::BodyBuffer;

/// Copies as much of `data` into the buffer as fits.
pub(crate) fn append_lent(buffer: &mut dyn BodyBuffer, data: &[u8]) {
    let spare = buffer.spare();
    let count = spare.len().min(data.len());
    for (place, byte) in spare.iter_mut().zip(data) {
        place.write(*byte);
    }
    // SAFETY: the copy initialised these bytes.
    unsafe { advance(buffer, count) }
}

/// Counts the first `filled` bytes of the spare capacity as contents.
///
/// # Safety
/// They are initialised.
pub(super) unsafe fn set_filled(buffer: &mut Vec<u8>, filled: usize) {
    assert!(filled <= buffer.capacity() - buffer.len());
    // SAFETY: within the capacity, and initialised as required.
    unsafe { buffer.set_len(buffer.len() + filled) }
}

/// Counts the first `filled` bytes of the buffer's spare memory as contents.
///
/// # Safety
/// They are initialised.
pub(super) unsafe fn advance(buffer: &mut dyn BodyBuffer, filled: usize) {
    assert!(filled <= buffer.spare().len());
    // SAFETY: within the spare memory, and initialised as required.
    unsafe { buffer.advance(filled) }
}
