//! The head of a response, and the whole of a response the server makes itself.

use super::{BodyFraming, BodySize, Plan, RequestFacts, ResponseFields, plan};
use crate::decimal::{MOST_DIGITS, put_decimal};
use crate::error::Error;
use crate::status::Status;

/// The fields the server adds unless the application set its own.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct ServerFields<'a> {
    /// The time as [`imf_fixdate`](crate::date::imf_fixdate) gives it; `None` sends no Date.
    pub date: Option<&'a [u8; 29]>,
    /// The value of Server, free of control bytes; `None` sends no Server.
    pub server: Option<&'a [u8]>,
    /// The value of X-Request-ID, free of control bytes; `None` sends none.
    pub request_id: Option<&'a [u8]>,
}

/// Appends a response's head to `out`, the empty line included. The version is always our own,
/// 1.1 (RFC 9110 section 2.5). `reason` is free of control bytes.
pub fn write_head(
    out: &mut Vec<u8>,
    status: u16,
    reason: &[u8],
    fields: &ResponseFields,
    plan: &Plan,
    request: &RequestFacts,
    server: &ServerFields<'_>,
) {
    put_start(out, status, reason, fields, server);
    put_framing(out, plan);
    put_connection(out, plan.persistent, request.http11, fields.has_upgrade());
}

/// Appends the beginning of the response 101 to `out`: the status line, the server's fields and
/// those of the application. What is switched to, and the empty line, is the caller's to add.
pub(crate) fn write_switching(
    out: &mut Vec<u8>,
    fields: &ResponseFields,
    server: &ServerFields<'_>,
) {
    put_start(out, 101, b"Switching Protocols", fields, server);
}

/// The head up to the fields of framing and connection.
#[inline]
fn put_start(
    out: &mut Vec<u8>,
    status: u16,
    reason: &[u8],
    fields: &ResponseFields,
    server: &ServerFields<'_>,
) {
    let server_value = server.server.filter(|_| !fields.has_server());
    let request_id = server.request_id.filter(|_| !fields.has_request_id());
    let given = reason.len() + fields.bytes().len() + server_value.map_or(0, <[u8]>::len);
    out.reserve(given + OWN_BYTES);
    put_status_line(out, status, reason);
    if let Some(date) = server.date.filter(|_| !fields.has_date()) {
        put_date(out, date);
    }
    if let Some(value) = server_value {
        out.extend_from_slice(b"Server: ");
        out.extend_from_slice(value);
        out.extend_from_slice(b"\r\n");
    }
    if let Some(id) = request_id {
        out.extend_from_slice(b"X-Request-ID: ");
        out.extend_from_slice(id);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(fields.bytes());
}

/// A response that the server makes itself.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The status code.
    pub status: u16,
    /// A sentence for a person.
    pub message: &'static str,
    /// Fields besides those of every response: names and values.
    pub fields: &'static [(&'static str, &'static str)],
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        Refusal {
            status: error.status(),
            message: error.message(),
            fields: error.response_fields(),
        }
    }
}

/// Appends a whole response of plain text made by the server: the message and a line end as the
/// body, its Content-Length, and `Connection: close`. HEAD gets the head alone. Gives how long the
/// body is that is sent.
pub fn error_response(
    out: &mut Vec<u8>,
    refusal: &Refusal,
    request: RequestFacts,
    server: &ServerFields<'_>,
) -> u64 {
    refusal_response(out, refusal, RequestFacts { persistent: false, ..request }, server)
}

/// As [`error_response`], for a request that is whole: the connection persists where `request` says so.
pub fn refusal_response(
    out: &mut Vec<u8>,
    refusal: &Refusal,
    request: RequestFacts,
    server: &ServerFields<'_>,
) -> u64 {
    let Refusal { status, message, .. } = *refusal;
    let fields = ResponseFields::of_refusal(refusal.fields);
    let plan = plan(request, status, &fields, BodySize::Known(message.len() as u64 + 1));
    let reason = Status::new(status).map_or("", Status::reason);
    write_head(out, status, reason.as_bytes(), &fields, &plan, &request, server);
    if plan.framing == BodyFraming::None {
        return 0;
    }
    out.extend_from_slice(message.as_bytes());
    out.push(b'\n');
    message.len() as u64 + 1
}

/// The interim response that asks for the body (RFC 9110 section 15.2.1).
pub const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

#[inline]
fn put_status_line(out: &mut Vec<u8>, status: u16, reason: &[u8]) {
    if status == 200 && reason == b"OK" {
        return out.extend_from_slice(b"HTTP/1.1 200 OK\r\n");
    }
    let mut line = *b"HTTP/1.1 000 ";
    line[9] += (status / 100 % 10) as u8;
    line[10] += (status / 10 % 10) as u8;
    line[11] += (status % 10) as u8;
    out.extend_from_slice(&line);
    out.extend_from_slice(reason);
    out.extend_from_slice(b"\r\n");
}

/// One copy of a fixed size instead of three.
#[inline]
fn put_date(out: &mut Vec<u8>, date: &[u8; 29]) {
    let mut line = *b"Date: Thu, 01 Jan 1970 00:00:00 GMT\r\n";
    line[6..35].copy_from_slice(date);
    out.extend_from_slice(&line);
}

#[inline]
fn put_framing(out: &mut Vec<u8>, plan: &Plan) {
    if let Some(length) = plan.content_length {
        put_content_length(out, length);
    } else if plan.framing == BodyFraming::Chunked {
        out.extend_from_slice(b"Transfer-Encoding: chunked\r\n");
    }
}

#[inline]
fn put_content_length(out: &mut Vec<u8>, length: u64) {
    // Room for the most digits there can be.
    let mut line_end = *b"00000000000000000000\r\n";
    let first = put_decimal(&mut line_end[..MOST_DIGITS], length);
    out.extend_from_slice(b"Content-Length: ");
    out.extend_from_slice(&line_end[first..]);
}

/// RFC 9112 section 9.3: 1.1 persists unless told otherwise, 1.0 only when told. Whoever sends Upgrade names it here
/// (RFC 9110 section 7.8).
#[inline]
fn put_connection(out: &mut Vec<u8>, persistent: bool, http11: bool, upgrade: bool) {
    let line: &[u8] = match (persistent, http11, upgrade) {
        (true, true, false) => b"",
        (true, true, true) => b"Connection: upgrade\r\n",
        (true, false, false) => b"Connection: keep-alive\r\n",
        (true, false, true) => b"Connection: keep-alive, upgrade\r\n",
        (false, _, false) => b"Connection: close\r\n",
        (false, _, true) => b"Connection: close, upgrade\r\n",
    };
    out.extend_from_slice(line);
    out.extend_from_slice(b"\r\n");
}

/// More than the head ever has besides reason, fields and the value of Server.
const OWN_BYTES: usize = 160;

#[cfg(test)]
mod tests {
    use super::*;

    const DATE: &[u8; 29] = b"Sun, 06 Nov 1994 08:49:37 GMT";
    const BOTH: ServerFields<'static> =
        ServerFields { date: Some(DATE), server: Some(b"p"), request_id: None };
    const NEITHER: ServerFields<'static> =
        ServerFields { date: None, server: None, request_id: None };
    const GET: RequestFacts = RequestFacts { http11: true, head: false, persistent: true };
    const HEAD: RequestFacts = RequestFacts { head: true, ..GET };
    const GET_10: RequestFacts = RequestFacts { http11: false, ..GET };

    fn head(
        request: RequestFacts,
        (status, reason): (u16, &str),
        pairs: &[(&str, &str)],
        body: BodySize,
        server: &ServerFields<'_>,
    ) -> String {
        let mut fields = ResponseFields::default();
        for (name, value) in pairs {
            fields.push(name.as_bytes(), value.as_bytes()).expect("a valid field");
        }
        let plan = plan(request, status, &fields, body);
        let mut out = Vec::new();
        write_head(&mut out, status, reason.as_bytes(), &fields, &plan, &request, server);
        String::from_utf8(out).expect("ASCII")
    }

    #[test]
    fn heads_are_written_whole() {
        let ok = (200, "OK");
        let known = BodySize::Known(13);
        let table = [
            (
                head(GET, ok, &[("Content-Type", "text/plain")], known, &BOTH),
                "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nServer: p\r\n\
                 Content-Type: text/plain\r\nContent-Length: 13\r\n\r\n",
            ),
            (
                head(GET, (299, "My Reason"), &[], BodySize::Known(0), &NEITHER),
                "HTTP/1.1 299 My Reason\r\nContent-Length: 0\r\n\r\n",
            ),
            (
                head(GET, (200, "Fine"), &[], BodySize::Known(u64::MAX), &NEITHER),
                "HTTP/1.1 200 Fine\r\nContent-Length: 18446744073709551615\r\n\r\n",
            ),
            (
                head(GET, ok, &[], BodySize::Unknown, &NEITHER),
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            ),
            (
                head(GET, ok, &[("Connection", "close")], known, &NEITHER),
                "HTTP/1.1 200 OK\r\nContent-Length: 13\r\nConnection: close\r\n\r\n",
            ),
            (
                head(GET, (304, "Not Modified"), &[("Content-Length", "7")], known, &NEITHER),
                "HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n",
            ),
        ];
        for (written, expected) in table {
            assert_eq!(written, expected);
        }
    }

    #[test]
    fn rule_9_http_1_0_is_answered_in_its_own_terms() {
        assert_eq!(
            head(GET_10, (200, "OK"), &[], BodySize::Known(1), &NEITHER),
            "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nConnection: keep-alive\r\n\r\n"
        );
        assert_eq!(
            head(GET_10, (200, "OK"), &[], BodySize::Unknown, &NEITHER),
            "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
        );
    }

    #[test]
    fn rule_21_head_keeps_content_length_and_204_has_none() {
        let length = [("Content-Length", "5")];
        assert_eq!(
            head(HEAD, (200, "OK"), &length, BodySize::Unknown, &NEITHER),
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
        );
        assert_eq!(
            head(GET, (204, "No Content"), &length, BodySize::Known(5), &NEITHER),
            "HTTP/1.1 204 No Content\r\n\r\n"
        );
    }

    #[test]
    fn rule_23_the_application_cannot_frame_the_message() {
        let pairs = [("Transfer-Encoding", "chunked"), ("Content-Length", "5")];
        assert_eq!(
            head(GET, (200, "OK"), &pairs, BodySize::Unknown, &NEITHER),
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
        );
    }

    #[test]
    fn rule_25_date_and_server_are_sent_once() {
        let pairs = [("date", "today"), ("SERVER", "mine")];
        assert_eq!(
            head(GET, (200, "OK"), &pairs, BodySize::Known(1), &BOTH),
            "HTTP/1.1 200 OK\r\ndate: today\r\nSERVER: mine\r\nContent-Length: 1\r\n\r\n"
        );
    }

    #[test]
    fn the_identifier_is_sent_unless_the_application_set_one() {
        let named = ServerFields { request_id: Some(b"r1"), ..NEITHER };
        assert_eq!(
            head(GET, (200, "OK"), &[("X-A", "b")], BodySize::Known(1), &named),
            "HTTP/1.1 200 OK\r\nX-Request-ID: r1\r\nX-A: b\r\nContent-Length: 1\r\n\r\n"
        );
        assert_eq!(
            head(GET, (200, "OK"), &[("x-request-id", "mine")], BodySize::Known(1), &named),
            "HTTP/1.1 200 OK\r\nx-request-id: mine\r\nContent-Length: 1\r\n\r\n"
        );
    }

    #[test]
    fn heads_are_appended() {
        let mut out = b"before".to_vec();
        let refusal = Refusal { status: 500, message: "x", fields: &[] };
        error_response(&mut out, &refusal, GET, &NEITHER);
        assert!(out.starts_with(b"beforeHTTP/1.1 500 Internal Server Error\r\n"));
    }

    #[test]
    fn rule_24_and_25_an_error_response_is_complete_and_closes() {
        let expected = "HTTP/1.1 400 Bad Request\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\
             Server: p\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 14\r\n\
             Connection: close\r\n\r\n";
        for (request, body) in [(GET, "Host missing.\n"), (GET_10, "Host missing.\n"), (HEAD, "")] {
            let mut out = Vec::new();
            let refusal = Refusal { status: 400, message: "Host missing.", fields: &[] };
            error_response(&mut out, &refusal, request, &BOTH);
            assert_eq!(String::from_utf8_lossy(&out), format!("{expected}{body}"));
        }
    }

    #[test]
    fn a_refusal_of_a_whole_request_keeps_the_connection() {
        let mut out = Vec::new();
        let refusal = Refusal { status: 503, message: "Later.", fields: &[("Retry-After", "1")] };
        refusal_response(&mut out, &refusal, GET, &NEITHER);
        let text = String::from_utf8_lossy(&out);
        assert!(text.contains("\r\nRetry-After: 1\r\n"), "{text}");
        assert!(!text.contains("Connection"), "{text}");
    }

    #[test]
    fn a_refused_handshake_names_the_version_it_wants() {
        let mut out = Vec::new();
        error_response(&mut out, &Error::WebSocketVersion.into(), GET, &NEITHER);
        let text = String::from_utf8_lossy(&out);
        assert!(text.starts_with("HTTP/1.1 426 Upgrade Required\r\n"), "{text}");
        assert!(text.contains("\r\nSec-WebSocket-Version: 13\r\n"), "{text}");
        assert!(text.contains("\r\nUpgrade: websocket\r\n"), "{text}");
        assert!(text.contains("\r\nConnection: close, upgrade\r\n"), "{text}");
    }

    #[test]
    fn own_bytes_cover_the_longest_head() {
        let most = "HTTP/1.1 200 \r\nDate: \r\nServer: \r\nContent-Length: \r\n\
             Connection: keep-alive, upgrade\r\n\r\n";
        assert!(most.len() + DATE.len() + 20 <= OWN_BYTES);
    }
}
