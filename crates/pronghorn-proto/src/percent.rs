//! Percent-decoding of a path (RFC 3986 section 2.1).

/// Whether [`decode_path`] would change `raw`; if not, the bytes can be used as they are.
pub fn needs_decoding(raw: &[u8]) -> bool {
    memchr::memchr(b'%', raw).is_some()
}

/// Appends `raw` to `out` with every `%` and two hexadecimal digits replaced by the byte they
/// name. A `%` that two digits do not follow is kept as it is. `out` is never parsed again, so
/// `%252e` gives `%2e`.
pub fn decode_path(raw: &[u8], out: &mut Vec<u8>) {
    out.reserve(raw.len());
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'%', rest) {
        out.extend_from_slice(&rest[..at]);
        let (byte, length) = match decode_triplet(&rest[at..]) {
            Some(byte) => (byte, 3),
            None => (b'%', 1),
        };
        out.push(byte);
        rest = &rest[at + length..];
    }
    out.extend_from_slice(rest);
}

/// The byte that the `%XX` at the start of `text` names.
fn decode_triplet(text: &[u8]) -> Option<u8> {
    let [_, high, low, ..] = text else { return None };
    Some(hex_digit(*high)? << 4 | hex_digit(*low)?)
}

/// The value of a hexadecimal digit of either case.
pub(crate) fn hex_digit(byte: u8) -> Option<u8> {
    match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        b'A'..=b'F' => Some(byte - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(raw: &str) -> Vec<u8> {
        let mut out = Vec::new();
        decode_path(raw.as_bytes(), &mut out);
        out
    }

    #[test]
    fn triplets_become_bytes() {
        assert_eq!(decoded("/a%20b%2Fc%e9%E9"), b"/a b/c\xe9\xe9");
        assert_eq!(decoded("%252e%00"), b"%2e\0");
    }

    #[test]
    fn malformed_triplets_are_kept() {
        for raw in ["%", "%2", "/%zz", "%%", "a%2", "%g0", "%0g", "% 1"] {
            assert_eq!(decoded(raw), raw.as_bytes(), "{raw}");
        }
        assert_eq!(decoded("%%41%"), b"%A%");
    }

    #[test]
    fn only_a_percent_sign_needs_decoding() {
        assert!(needs_decoding(b"/a%41"));
        assert!(!needs_decoding(b"/a+b"));
    }
}
