//! A head: found at the same place however it is cut, and nothing in it that must not be.

use pronghorn_proto::{Error, Form, HeadScanner, Known, Limits, RequestHead, host};

use crate::cuts::{self, Random};

/// Panics if `data` is handled in a way no head may be.
pub fn check(data: &[u8]) {
    let limits = Limits {
        request_line: 200,
        field: 200,
        fields: 1000,
        field_count: 40,
        ..Limits::default()
    };
    let whole = scan(&[data], &limits);
    assert_eq!(whole, scan(&cuts::bytes(data), &limits));
    let pieces = cuts::random(data, 20, &mut Random::new(cuts::seed(data)));
    assert_eq!(whole, scan(&pieces, &limits));
    if let Ok(Some((length, mut head))) = whole
        && head.interpret(data, &limits).is_ok()
    {
        check_parsed(&data[..length], &head);
    }
}

/// The length of the head and its lines.
fn scan(pieces: &[&[u8]], limits: &Limits) -> Result<Option<(usize, RequestHead)>, Error> {
    let mut scanner = HeadScanner::default();
    let mut head = RequestHead::default();
    let mut received = Vec::new();
    for piece in pieces {
        received.extend_from_slice(piece);
        if let Some(length) = scanner.advance(&received, limits, &mut head)? {
            return Ok(Some((length, head)));
        }
    }
    Ok(None)
}

fn check_parsed(bytes: &[u8], head: &RequestHead) {
    assert!(bytes.ends_with(b"\r\n\r\n"));
    let lines = bytes.strip_prefix(b"\r\n").unwrap_or(bytes);
    assert!(lines.split(|&b| b == b'\n').all(|line| line.is_empty() || line.ends_with(b"\r")));
    let stray = |&b: &u8| matches!(b, 0..=8 | 0x0b..=0x0c | 0x0e..=0x1f | 0x7f);
    assert!(!bytes.iter().any(stray), "control byte let through");
    assert_eq!(lines.iter().filter(|&&b| b == b'\r').count(), head.fields.len() + 2);
    check_fields(head, bytes);
    check_target(head, bytes);
}

fn check_fields(head: &RequestHead, bytes: &[u8]) {
    for field in &head.fields {
        let name = field.name.of(bytes);
        assert!(pronghorn_proto::field::is_token(name));
        assert_eq!(bytes[field.name.end as usize], b':');
        let by_list = Known::all().iter().find(|k| name.eq_ignore_ascii_case(k.name().as_bytes()));
        assert_eq!(field.known, by_list.copied());
        assert_eq!(pronghorn_proto::field::trim(field.value.of(bytes)), field.value.of(bytes));
    }
    let hosts = head.values(bytes, Known::Host).count();
    assert!(hosts == 1 || (hosts == 0 && head.version == pronghorn_proto::Version::Http10));
    let both =
        head.field(bytes, Known::ContentLength).and(head.field(bytes, Known::TransferEncoding));
    assert_eq!(both, None);
}

fn check_target(head: &RequestHead, bytes: &[u8]) {
    let path = head.target.path.of(bytes);
    match head.target.form {
        Form::Origin => assert!(path.starts_with(b"/")),
        Form::Absolute => assert!(path.is_empty() || path.starts_with(b"/")),
        Form::Asterisk => assert_eq!(head.method_span.of(bytes), b"OPTIONS"),
        Form::Authority => panic!("CONNECT is refused"),
    }
    assert!(!path.contains(&b'?'));
    if let Some(host) = head.host {
        assert_eq!(host::check(host.of(bytes)), Ok(()));
    }
}
