//! What clients and applications say, so that no byte of it can end a field, a line, or move a terminal's cursor.

use std::io::Write as _;

/// Appends `text` to a line of text: quotes and backslashes get a backslash, and what is not printable ASCII is `\xHH`.
pub(super) fn append_text(out: &mut Vec<u8>, text: &[u8]) {
    if is_plain(text) {
        return out.extend_from_slice(text);
    }
    for &byte in text {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b' '..=b'~' => out.push(byte),
            _ => append_hexadecimal(out, b"\\x", byte),
        }
    }
}

/// Appends `text` between the quotes of a JSON string (RFC 8259 section 7). What is not UTF-8 is read as latin-1.
pub(super) fn append_json(out: &mut Vec<u8>, text: &[u8]) {
    if is_plain(text) {
        return out.extend_from_slice(text);
    }
    for chunk in text.utf8_chunks() {
        chunk.valid().chars().for_each(|char| append_json_char(out, char));
        chunk.invalid().iter().for_each(|&byte| append_hexadecimal(out, b"\\u00", byte));
    }
}

fn append_json_char(out: &mut Vec<u8>, char: char) {
    match char {
        '"' | '\\' => out.extend_from_slice(&[b'\\', char as u8]),
        '\0'..='\x1f' | '\x7f'..='\u{9f}' => append_hexadecimal(out, b"\\u00", char as u8),
        // Writing to memory does not fail.
        _ => drop(write!(out, "{char}")),
    }
}

fn append_hexadecimal(out: &mut Vec<u8>, prefix: &[u8], byte: u8) {
    out.extend_from_slice(prefix);
    out.extend_from_slice(&[DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]);
}

/// Whether nothing of `text` needs escaping: nearly always. Without an early end, so that it is done many bytes at a time.
fn is_plain(text: &[u8]) -> bool {
    let special = |byte: u8| byte.wrapping_sub(b' ') > b'~' - b' ' || byte == b'"' || byte == b'\\';
    !text.iter().fold(false, |found, &byte| found | special(byte))
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

#[cfg(test)]
mod tests {
    use super::*;

    fn escaped(append: fn(&mut Vec<u8>, &[u8]), text: &[u8]) -> String {
        let mut out = Vec::new();
        append(&mut out, text);
        String::from_utf8(out).expect("UTF-8")
    }

    #[test]
    fn a_client_cannot_forge_a_line_of_text() {
        let written = escaped(append_text, b"a\"b\\c\x1b[2J\r\n\t\x7f\xe9 ~");
        assert_eq!(written, r#"a\"b\\c\x1b[2J\x0d\x0a\x09\x7f\xe9 ~"#);
        assert_eq!(escaped(append_text, b"plain text"), "plain text");
    }

    #[test]
    fn a_client_cannot_end_a_json_string() {
        for (text, written) in [
            (&b"plain"[..], "plain"),
            (b"a\"b\\c\n\x00\x7f", r#"a\"b\\c\u000a\u0000\u007f"#),
            ("h\u{e9} \u{9b}31m \u{1f600}".as_bytes(), "h\u{e9} \\u009b31m \u{1f600}"),
            (b"\xe9\xff a", r"\u00e9\u00ff a"),
            // A surrogate, and a character that is cut.
            (b"\xed\xa0\x80\xe2\x82", r"\u00ed\u00a0\u0080\u00e2\u0082"),
        ] {
            assert_eq!(escaped(append_json, text), written);
        }
    }

    #[test]
    fn every_byte_is_plain_or_escaped() {
        for byte in 0..=255 {
            let plain = matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
            assert_eq!(is_plain(&[b'a', byte]), plain, "{byte}");
        }
    }
}
