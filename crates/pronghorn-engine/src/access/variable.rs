//! `{name}e`: the variables of CGI (RFC 3875 section 4.1), as far as the server itself knows them.

use pronghorn_proto::percent::decode_path;

use super::atom::{FieldName, append_client, append_or_dash};
use super::{Entry, Process, escape, number};

/// One variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Variable {
    Method,
    Path,
    Query,
    RawUri,
    Protocol,
    ServerName,
    ServerPort,
    ClientAddress,
    ClientPort,
    RequestId,
    Field(FieldName),
    /// One that only the application or nobody knows.
    Absent,
}

impl Variable {
    pub(super) fn named(name: &str) -> Variable {
        match name {
            "REQUEST_METHOD" => Variable::Method,
            "PATH_INFO" => Variable::Path,
            "QUERY_STRING" => Variable::Query,
            "RAW_URI" | "REQUEST_URI" => Variable::RawUri,
            "SERVER_PROTOCOL" => Variable::Protocol,
            "SERVER_NAME" => Variable::ServerName,
            "SERVER_PORT" => Variable::ServerPort,
            "REMOTE_ADDR" => Variable::ClientAddress,
            "REMOTE_PORT" => Variable::ClientPort,
            "HTTP_X_REQUEST_ID" => Variable::RequestId,
            "CONTENT_TYPE" | "CONTENT_LENGTH" => Variable::Field(field_name(name)),
            _ => name
                .strip_prefix("HTTP_")
                .map_or(Variable::Absent, |name| Variable::Field(field_name(name))),
        }
    }

    pub(super) fn append(&self, out: &mut Vec<u8>, entry: &Entry<'_>, process: &Process) {
        match self {
            Variable::Method => append_or_dash(out, entry.method()),
            Variable::Path => append_decoded(out, entry),
            Variable::Query => escape::append_text(out, entry.query().unwrap_or_default()),
            Variable::RawUri => append_raw_uri(out, entry),
            Variable::Protocol => append_or_dash(out, entry.protocol()),
            Variable::ServerName => {
                append_or_dash(out, process.local(entry).map(|local| local.name.as_bytes()))
            }
            Variable::ServerPort => {
                let port = process.local(entry).map(|local| local.port.as_bytes());
                append_or_dash(out, port.filter(|port| !port.is_empty()));
            }
            Variable::ClientAddress => append_client(out, entry),
            Variable::ClientPort => append_client_port(out, entry),
            Variable::RequestId => append_request_id(out, entry),
            Variable::Field(name) => name.append(out, entry),
            Variable::Absent => out.push(b'-'),
        }
    }
}

/// `X_FORWARDED_FOR` is `X-Forwarded-For`.
fn field_name(name: &str) -> FieldName {
    FieldName::new(&name.replace('_', "-").to_ascii_lowercase())
}

fn append_decoded(out: &mut Vec<u8>, entry: &Entry<'_>) {
    let Some(path) = entry.path() else { return out.push(b'-') };
    let mut decoded = Vec::new();
    decode_path(path, &mut decoded);
    escape::append_text(out, &decoded);
}

fn append_raw_uri(out: &mut Vec<u8>, entry: &Entry<'_>) {
    let raw = entry.request.head.target.raw;
    append_or_dash(out, (!raw.is_empty()).then(|| raw.of(&entry.request.buffer)));
}

fn append_client_port(out: &mut Vec<u8>, entry: &Entry<'_>) {
    match entry.client.port {
        Some(port) => number::append_decimal(out, port.into()),
        None => out.push(b'-'),
    }
}

/// The identifier that the application is given; without identifiers the field is like any other.
fn append_request_id(out: &mut Vec<u8>, entry: &Entry<'_>) {
    match entry.request.id() {
        Some(id) => escape::append_text(out, id),
        None => field_name("X_REQUEST_ID").append(out, entry),
    }
}
