//! UTF-8 while it arrives: wrong as soon as a byte makes it wrong (RFC 6455 section 8.1).

use super::fault::Fault;

/// How much of `bytes` is whole characters. What is left then is the beginning of one, three bytes
/// at most.
///
/// Fails if no bytes that could follow would make it UTF-8.
#[inline]
pub(super) fn whole_characters(bytes: &[u8]) -> Result<usize, Fault> {
    // Most text is ASCII, which is seen faster than that it is UTF-8.
    if bytes.is_ascii() {
        return Ok(bytes.len());
    }
    match str::from_utf8(bytes) {
        Ok(_) => Ok(bytes.len()),
        Err(error) if error.error_len().is_none() => Ok(error.valid_up_to()),
        Err(_) => Err(Fault::Utf8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_become_utf_8_is_waited_for() {
        let table: [(&[u8], usize); 7] = [
            (b"", 0),
            (b"abc", 3),
            ("aé€𝄞".as_bytes(), 10),
            (b"a\xc3", 1),
            (b"\xe0\xa0", 0),
            (b"ab\xf4\x8f\xbf", 2),
            (b"\xed\x9f", 0),
        ];
        for (bytes, whole) in table {
            assert_eq!(whole_characters(bytes), Ok(whole), "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn what_cannot_is_refused_at_once() {
        let table: [&[u8]; 9] = [
            b"\x80",
            b"\xc0",
            b"\xc1",
            b"\xf5",
            b"\xff",
            b"\xe0\x80",
            b"\xed\xa0",
            b"\xf0\x80",
            b"\xf4\x90",
        ];
        for bytes in table {
            assert_eq!(whole_characters(bytes), Err(Fault::Utf8), "{}", bytes.escape_ascii());
            let before = &bytes[..bytes.len() - 1];
            assert_eq!(whole_characters(before), Ok(0), "{}", bytes.escape_ascii());
        }
    }
}
