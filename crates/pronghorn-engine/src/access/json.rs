//! A line as one JSON object (RFC 8259).

use pronghorn_proto::field::Known;

use super::{Entry, Process, clock, escape, number};

/// Appends the object of `entry`.
pub(super) fn append(out: &mut Vec<u8>, entry: &Entry<'_>, process: &Process) {
    out.extend_from_slice(b"{\"time\":\"");
    clock::append_rfc3339(out);
    out.push(b'"');
    append_client(out, entry);
    append_text(out, b"method", entry.method());
    append_text(out, b"path", entry.path());
    append_text(out, b"query", Some(entry.query().unwrap_or_default()));
    append_number(out, b"status", entry.status.into());
    append_number(out, b"bytes", entry.bytes);
    append_times(out, entry);
    append_text(out, b"request_id", entry.request.id());
    append_text(out, b"traceparent", entry.request.traceparent());
    append_field(out, b"user_agent", entry, Known::UserAgent);
    append_field(out, b"referer", entry, Known::Referer);
    append_text(out, b"protocol", entry.protocol());
    append_number(out, b"worker", process.pid.into());
    out.push(b'}');
}

fn append_client(out: &mut Vec<u8>, entry: &Entry<'_>) {
    append_key(out, b"client");
    match entry.client.ip {
        Some(address) => {
            out.push(b'"');
            number::append_address(out, address);
            out.push(b'"');
        }
        None => out.extend_from_slice(b"null"),
    }
}

fn append_times(out: &mut Vec<u8>, entry: &Entry<'_>) {
    let times = entry.times();
    append_key(out, b"duration");
    number::append_seconds(out, times.run);
    append_key(out, b"queue_wait");
    number::append_seconds(out, times.waited);
}

fn append_field(out: &mut Vec<u8>, key: &[u8], entry: &Entry<'_>, known: Known) {
    append_text(out, key, entry.request.head.field(&entry.request.buffer, known));
}

fn append_text(out: &mut Vec<u8>, key: &[u8], text: Option<&[u8]>) {
    append_key(out, key);
    match text {
        Some(text) => {
            out.push(b'"');
            escape::append_json(out, text);
            out.push(b'"');
        }
        None => out.extend_from_slice(b"null"),
    }
}

fn append_number(out: &mut Vec<u8>, key: &[u8], number: u64) {
    append_key(out, key);
    number::append_decimal(out, number);
}

fn append_key(out: &mut Vec<u8>, key: &[u8]) {
    out.extend_from_slice(b",\"");
    out.extend_from_slice(key);
    out.extend_from_slice(b"\":");
}
