//! gunicorn's atoms: what each letter of a format stands for.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pronghorn_proto::encode::ResponseFields;
use pronghorn_proto::field::{Field, Known};

use super::variable::Variable;
use super::{Entry, Process, clock, escape, number};

/// One atom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Atom {
    Client,
    Absent,
    User,
    Time,
    RequestLine,
    Method,
    Path,
    Query,
    Protocol,
    Status,
    Bytes,
    Referer,
    UserAgent,
    Seconds,
    Millis,
    Micros,
    Decimal,
    Process,
    Field(FieldName),
    ResponseField(FieldName),
    Variable(Variable),
}

/// The name of a field, ready to be looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FieldName {
    known: Option<Known>,
    name: Box<[u8]>,
}

impl Atom {
    /// The atom of one letter.
    pub(super) fn named(letter: &str) -> Option<Atom> {
        Some(match letter {
            "h" => Atom::Client,
            "l" => Atom::Absent,
            "u" => Atom::User,
            "t" => Atom::Time,
            "r" => Atom::RequestLine,
            "m" => Atom::Method,
            "U" => Atom::Path,
            "q" => Atom::Query,
            "H" => Atom::Protocol,
            "s" => Atom::Status,
            "b" | "B" => Atom::Bytes,
            "f" => Atom::Referer,
            "a" => Atom::UserAgent,
            "T" => Atom::Seconds,
            "M" => Atom::Millis,
            "D" => Atom::Micros,
            "L" => Atom::Decimal,
            "p" => Atom::Process,
            _ => return None,
        })
    }

    pub(super) fn is_timed(&self) -> bool {
        matches!(self, Atom::Seconds | Atom::Millis | Atom::Micros | Atom::Decimal)
    }

    pub(super) fn append(&self, out: &mut Vec<u8>, entry: &Entry<'_>, process: &Process) {
        match self {
            Atom::Client => append_client(out, entry),
            Atom::Absent => out.push(b'-'),
            Atom::User => append_user(out, entry),
            Atom::Time => clock::append_common(out),
            Atom::RequestLine => append_or_dash(out, entry.request_line()),
            Atom::Method => append_or_dash(out, entry.method()),
            Atom::Path => append_or_dash(out, entry.path()),
            Atom::Query => escape::append_text(out, entry.query().unwrap_or_default()),
            Atom::Protocol => append_or_dash(out, entry.protocol()),
            Atom::Status => number::append_decimal(out, entry.status.into()),
            Atom::Bytes => number::append_decimal(out, entry.bytes),
            Atom::Referer => append_known(out, entry, Known::Referer),
            Atom::UserAgent => append_known(out, entry, Known::UserAgent),
            Atom::Seconds => number::append_decimal(out, entry.times().run / 1_000_000),
            Atom::Millis => number::append_decimal(out, entry.times().run / 1000),
            Atom::Micros => number::append_decimal(out, entry.times().run),
            Atom::Decimal => number::append_seconds(out, entry.times().run),
            Atom::Process => append_process(out, process.pid),
            Atom::Field(name) => name.append(out, entry),
            Atom::ResponseField(name) => name.append_of_response(out, entry),
            Atom::Variable(variable) => variable.append(out, entry, process),
        }
    }
}

/// Appends a text, or a dash in its place.
pub(super) fn append_or_dash(out: &mut Vec<u8>, text: Option<&[u8]>) {
    match text {
        Some(text) => escape::append_text(out, text),
        None => out.push(b'-'),
    }
}

/// Appends the client's address; one on a Unix socket has none.
pub(super) fn append_client(out: &mut Vec<u8>, entry: &Entry<'_>) {
    match entry.client.ip {
        Some(address) => number::append_address(out, address),
        None => out.push(b'-'),
    }
}

fn append_known(out: &mut Vec<u8>, entry: &Entry<'_>, known: Known) {
    append_or_dash(out, entry.request.head.field(&entry.request.buffer, known));
}

fn append_process(out: &mut Vec<u8>, pid: u32) {
    out.push(b'<');
    number::append_decimal(out, pid.into());
    out.push(b'>');
}

/// The user of Basic authorization (RFC 7617).
fn append_user(out: &mut Vec<u8>, entry: &Entry<'_>) {
    let value = entry.request.head.field(&entry.request.buffer, Known::Authorization);
    match value.and_then(credentials) {
        Some(credentials) => {
            let user = credentials.split(|byte| *byte == b':').next();
            append_or_dash(out, user.filter(|user| !user.is_empty()));
        }
        None => out.push(b'-'),
    }
}

fn credentials(value: &[u8]) -> Option<Vec<u8>> {
    let (scheme, token) = value.split_at_checked(6)?;
    if !scheme.eq_ignore_ascii_case(b"basic ") {
        return None;
    }
    let credentials = STANDARD.decode(token.trim_ascii()).ok()?;
    credentials.contains(&b':').then_some(credentials)
}

impl FieldName {
    pub(super) fn new(name: &str) -> Self {
        let name = name.as_bytes();
        FieldName { known: Known::lookup(name), name: name.into() }
    }

    fn is_name_of(&self, field: &Field, buffer: &[u8]) -> bool {
        match self.known {
            Some(known) => field.known == Some(known),
            None => field.known.is_none() && field.name.of(buffer).eq_ignore_ascii_case(&self.name),
        }
    }

    /// Appends the values of the request's fields of this name, as one list.
    pub(super) fn append(&self, out: &mut Vec<u8>, entry: &Entry<'_>) {
        let buffer = &entry.request.buffer;
        let fields = entry.request.head.fields.iter();
        let values = fields.filter(|field| self.is_name_of(field, buffer));
        append_list(out, values.map(|field| field.value.of(buffer)));
    }

    /// The same of the response: fields of the application, and the identifier, which is the server's where the application set none.
    fn append_of_response(&self, out: &mut Vec<u8>, entry: &Entry<'_>) {
        let start = out.len();
        match entry.fields {
            Some(fields) => self.append_of_application(out, fields),
            None => out.push(b'-'),
        }
        if self.known == Some(Known::XRequestId) && out[start..] == *b"-" {
            out.truncate(start);
            append_or_dash(out, entry.request.id());
        }
    }

    fn append_of_application(&self, out: &mut Vec<u8>, fields: &ResponseFields) {
        if self.known == Some(Known::ContentLength) {
            return match fields.content_length() {
                Some(length) => number::append_decimal(out, length),
                None => out.push(b'-'),
            };
        }
        append_list(
            out,
            fields.bytes().split(|byte| *byte == b'\n').filter_map(|line| self.value(line)),
        );
    }

    /// The value of a field line `Name: value\r`, if it is of this name.
    fn value<'a>(&self, line: &'a [u8]) -> Option<&'a [u8]> {
        let (name, rest) = line.split_at_checked(self.name.len())?;
        let value = rest.strip_prefix(b": ")?;
        name.eq_ignore_ascii_case(&self.name).then_some(value.trim_ascii_end())
    }
}

fn append_list<'a>(out: &mut Vec<u8>, values: impl Iterator<Item = &'a [u8]>) {
    let start = out.len();
    for value in values {
        if out.len() > start {
            out.extend_from_slice(b", ");
        }
        escape::append_text(out, value);
    }
    if out.len() == start {
        out.push(b'-');
    }
}
