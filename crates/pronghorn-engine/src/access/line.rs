//! The combined format: what gunicorn, nginx and Apache write by default.

use std::io::Write as _;

use pronghorn_proto::field::Known;

use super::Entry;
use crate::client::Client;
use crate::date::date_now;

/// Appends the line of `entry`:
/// `address - - [day/month/year:time +0000] "request line" status bytes "referer" "user agent"`.
pub(super) fn append(out: &mut Vec<u8>, entry: &Entry<'_>) {
    append_client(out, entry.client);
    out.extend_from_slice(b" - - [");
    append_time(out, &date_now());
    out.extend_from_slice(b"] \"");
    append_request_line(out, entry);
    // Writing to memory does not fail.
    let _ = write!(out, "\" {} {} \"", entry.status, entry.bytes);
    append_field(out, entry, Known::Referer);
    out.extend_from_slice(b"\" \"");
    append_field(out, entry, Known::UserAgent);
    out.extend_from_slice(b"\"\n");
}

fn append_client(out: &mut Vec<u8>, client: Client) {
    match client.ip {
        Some(ip) => {
            let _ = write!(out, "{ip}");
        }
        None => out.push(b'-'),
    }
}

/// From `Sun, 06 Nov 1994 08:49:37 GMT` to `06/Nov/1994:08:49:37 +0000`.
fn append_time(out: &mut Vec<u8>, date: &[u8; 29]) {
    for (part, end) in [(&date[5..7], b'/'), (&date[8..11], b'/'), (&date[12..16], b':')] {
        out.extend_from_slice(part);
        out.push(end);
    }
    out.extend_from_slice(&date[17..25]);
    out.extend_from_slice(b" +0000");
}

/// The request line as it came, or a dash when what came is not one.
fn append_request_line(out: &mut Vec<u8>, entry: &Entry<'_>) {
    let method = entry.request.head.method_span;
    let rest = &entry.request.buffer[method.start as usize..];
    let line = rest.split(|byte| *byte == b'\r').next().filter(|_| !method.is_empty());
    append_escaped(out, line.unwrap_or(b"-"));
}

fn append_field(out: &mut Vec<u8>, entry: &Entry<'_>, known: Known) {
    let request = entry.request;
    append_escaped(out, request.head.field(&request.buffer, known).unwrap_or(b"-"));
}

/// What a client sent, so that no byte of it can end the field, the line, or move a terminal's cursor.
fn append_escaped(out: &mut Vec<u8>, text: &[u8]) {
    for &byte in text {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b' '..=b'~' => out.push(byte),
            _ => {
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_that_of_the_combined_format() {
        let mut out = Vec::new();
        append_time(&mut out, b"Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(out, b"06/Nov/1994:08:49:37 +0000");
    }

    #[test]
    fn a_client_cannot_forge_a_line() {
        let mut out = Vec::new();
        append_escaped(&mut out, b"a\"b\\c\x1b[2J\n\xe9");
        assert_eq!(out, br#"a\"b\\c\x1b[2J\x0a\xe9"#);
    }
}
