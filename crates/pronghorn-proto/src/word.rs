//! Eight or sixteen bytes at a time: finding bytes of a kind in what is mostly something else.
//!
//! What is searched is short, a line or less, so little may be set up before the first byte is looked
//! at. Where text may be long, memchr does better.
//!
//! A test of a word gives flags, one bit in each byte that passes. Only the lowest flag is exact: a
//! subtraction borrows from the bytes above the one that passed.

/// The first eight bytes of `bytes`, the first of them lowest. Zero beyond the end.
#[inline]
pub(crate) const fn load(bytes: &[u8]) -> u64 {
    match (bytes.first_chunk(), bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        (Some(word), ..) => u64::from_le_bytes(*word),
        // Two halves, which overlap.
        (None, Some(first), Some(last)) => {
            let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
            first as u64 | (last as u64) << (8 * (bytes.len() - 4))
        }
        _ => load_few(bytes),
    }
}

const fn load_few(bytes: &[u8]) -> u64 {
    match *bytes {
        [a, b, c, ..] => u32::from_le_bytes([a, b, c, 0]) as u64,
        [a, b] => u16::from_le_bytes([a, b]) as u64,
        [a] => a as u64,
        [] => 0,
    }
}

/// Flags the bytes below `bound`, which is at most 0x80.
#[inline]
pub(crate) fn below(word: u64, bound: u8) -> u64 {
    word.wrapping_sub(ONES * u64::from(bound)) & !word & HIGH_BITS
}

/// Flags the bytes equal to `byte`.
#[inline]
pub(crate) fn equal(word: u64, byte: u8) -> u64 {
    let difference = word ^ (ONES * u64::from(byte));
    difference.wrapping_sub(ONES) & !difference & HIGH_BITS
}

/// The number of the first flagged byte; 8 if there is none.
#[inline]
pub(crate) fn first(flags: u64) -> usize {
    flags.trailing_zeros() as usize / 8
}

/// The position of the first `byte`, which is not zero.
#[inline]
pub(crate) fn position(bytes: &[u8], byte: u8) -> Option<usize> {
    let (words, rest) = bytes.as_chunks();
    for (number, word) in words.iter().enumerate() {
        let flags = equal(u64::from_le_bytes(*word), byte);
        if flags != 0 {
            return Some(number * 8 + first(flags));
        }
    }
    let in_rest = rest.iter().position(|&b| b == byte);
    in_rest.map(|at| bytes.len() - rest.len() + at)
}

/// The position, not before `at`, of the first control byte other than a tab (0x00-0x08,
/// 0x0A-0x1F, 0x7F); the length of `bytes` if there is none. `at` is not beyond it.
///
/// The search proper is one function that all callers share, as they run with cold caches.
#[inline(always)]
pub(crate) fn control_position(bytes: &[u8], mut at: usize) -> usize {
    loop {
        at += control_or_tab_position(&bytes[at..]);
        if bytes.get(at) != Some(&b'\t') {
            return at;
        }
        at += 1;
    }
}

/// The position of the first ASCII control byte, or the length.
#[inline(never)]
fn control_or_tab_position(bytes: &[u8]) -> usize {
    let (blocks, rest) = bytes.as_chunks::<16>();
    let Some(number) = blocks.iter().position(has_control) else {
        let in_rest = rest.iter().position(u8::is_ascii_control);
        return bytes.len() - rest.len() + in_rest.unwrap_or(rest.len());
    };
    let block = u128::from_le_bytes(blocks[number]);
    let (low, high) = (controls(block as u64), controls((block >> 64) as u64));
    let in_block = if low != 0 { first(low) } else { 8 + first(high) };
    number * 16 + in_block
}

/// Whether `block` has an ASCII control byte. Nothing leaves the test early, which lets the compiler
/// make a few vector instructions of it.
#[inline]
pub(crate) fn has_control(block: &[u8; 16]) -> bool {
    block.iter().fold(false, |any, byte| any | byte.is_ascii_control())
}

/// Flags the ASCII control bytes.
#[inline]
pub(crate) fn controls(word: u64) -> u64 {
    below(word, b' ') | equal(word, 0x7F)
}

const ONES: u64 = u64::MAX / 0xFF;
const HIGH_BITS: u64 = ONES * 0x80;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_end_in_zeros() {
        let bytes = *b"abcdefghij";
        for length in 0..=bytes.len() {
            let mut expected = [0; 8];
            bytes[..length].iter().zip(&mut expected).for_each(|(&byte, place)| *place = byte);
            assert_eq!(load(&bytes[..length]).to_le_bytes(), expected, "{length}");
        }
    }

    #[test]
    fn every_byte_is_found_wherever_it_is() {
        for length in 1..25 {
            for at in 0..length {
                for byte in 1..=255 {
                    let mut bytes = vec![byte ^ 1; length];
                    bytes[at] = byte;
                    assert_eq!(position(&bytes, byte), Some(at), "{byte:#x} at {at}/{length}");
                    assert_eq!(position(&bytes[..at], byte), None);
                }
            }
        }
    }

    #[test]
    fn control_bytes_are_found_behind_tabs_and_others() {
        for length in 1..25 {
            for at in 0..length {
                for byte in 0..=255_u8 {
                    for other in [b' ', b'\t', b'~', 0x80, 0xFF] {
                        let mut bytes = vec![other; length];
                        bytes[at] = byte;
                        let is_control = byte.is_ascii_control() && byte != b'\t';
                        let expected = if is_control { at } else { length };
                        assert_eq!(control_position(&bytes, 0), expected, "{byte:#x} at {at}");
                        assert_eq!(control_position(&bytes, at + 1), length);
                    }
                }
            }
        }
    }

    #[test]
    fn bytes_below_a_bound_are_flagged() {
        for byte in 0..=255_u8 {
            let word = u64::from_le_bytes([b'~', 0xFF, byte, byte, b'~', 0x80, 0, 0]);
            assert_eq!(first(below(word, 0x21)), if byte < 0x21 { 2 } else { 6 }, "{byte:#x}");
        }
    }
}
