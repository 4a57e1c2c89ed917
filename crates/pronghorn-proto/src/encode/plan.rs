//! The one decision on how a response is framed and whether its connection persists.

use super::ResponseFields;
use crate::head::{Method, RequestHead, Version};

/// What a response depends on of its request.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct RequestFacts {
    /// The request is HTTP/1.1 or a later minor version.
    pub http11: bool,
    /// The method is HEAD.
    pub head: bool,
    /// The connection may go on after the response.
    pub persistent: bool,
}

impl RequestFacts {
    /// The facts of a request whose head is `head`, as far as it was read.
    #[inline]
    pub fn of(head: &RequestHead, persistent: bool) -> Self {
        RequestFacts {
            http11: head.version == Version::Http11,
            head: head.method == Method::Head,
            persistent,
        }
    }
}

/// What is known of the body before its first byte is sent.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum BodySize {
    /// All of it is there: its length in bytes.
    Known(u64),
    /// It is made while it is sent.
    Unknown,
}

/// How the end of the body is told to the client (RFC 9112 section 6.3).
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub enum BodyFraming {
    /// No body byte follows the head.
    None,
    /// Exactly so many bytes follow.
    Length(u64),
    /// Chunks follow.
    Chunked,
    /// The close of the connection ends the body.
    UntilClose,
}

/// How one response goes out; made by [`plan()`].
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What follows the head.
    pub framing: BodyFraming,
    /// Whether the connection goes on after the response.
    pub persistent: bool,
    /// The Content-Length the head states, with or without a body.
    pub content_length: Option<u64>,
}

/// Decides framing and persistence of a response.
///
/// A declared Content-Length wins over a known size that differs; the [`BodyWriter`] then cuts
/// the surplus or reports the short body. A known size of a HEAD answer is stated only if it is
/// not zero, as an empty body there says nothing about the GET; of a 304 never
/// (RFC 9110 section 8.6).
///
/// [`BodyWriter`]: super::BodyWriter
pub fn plan(request: RequestFacts, status: u16, fields: &ResponseFields, body: BodySize) -> Plan {
    let declared = fields.content_length();
    let (framing, content_length) = match status {
        100..=199 | 204 => (BodyFraming::None, None),
        205 => (BodyFraming::None, Some(0)),
        304 => (BodyFraming::None, declared),
        _ if request.head => (BodyFraming::None, declared.or(told_by_size(body))),
        _ => with_body(request.http11, declared, body),
    };
    // A client that got a 1xx waits for a final response, which will not come.
    let final_status = status >= 200;
    let persistent = request.persistent
        && !fields.asks_close()
        && framing != BodyFraming::UntilClose
        && final_status;
    Plan { framing, persistent, content_length }
}

fn with_body(http11: bool, declared: Option<u64>, body: BodySize) -> (BodyFraming, Option<u64>) {
    match (declared, body) {
        (Some(length), _) | (None, BodySize::Known(length)) => {
            (BodyFraming::Length(length), Some(length))
        }
        // RFC 9112 section 6.1: no Transfer-Encoding to a client of HTTP/1.0.
        (None, BodySize::Unknown) if http11 => (BodyFraming::Chunked, None),
        (None, BodySize::Unknown) => (BodyFraming::UntilClose, None),
    }
}

fn told_by_size(body: BodySize) -> Option<u64> {
    match body {
        BodySize::Known(length) if length > 0 => Some(length),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::BodyFraming::{Chunked, Length, UntilClose};
    use super::BodySize::{Known, Unknown};
    use super::*;

    const GET: RequestFacts = RequestFacts { http11: true, head: false, persistent: true };
    const HEAD: RequestFacts = RequestFacts { head: true, ..GET };
    const GET_10: RequestFacts = RequestFacts { http11: false, ..GET };

    fn declaring(length: &str) -> ResponseFields {
        let mut fields = ResponseFields::default();
        if !length.is_empty() {
            fields.push(b"Content-Length", length.as_bytes()).expect("a number");
        }
        fields
    }

    #[test]
    fn framing_of_every_kind_of_response() {
        // request, status, declared, body: framing, Content-Length stated, persistent
        let table = [
            (GET, 200, "", Known(5), Length(5), Some(5), true),
            (GET, 200, "", Known(0), Length(0), Some(0), true),
            (GET, 200, "5", Known(5), Length(5), Some(5), true),
            (GET, 200, "5", Unknown, Length(5), Some(5), true),
            (GET, 200, "", Unknown, Chunked, None, true),
            (GET, 404, "", Unknown, Chunked, None, true),
            (GET_10, 200, "", Known(5), Length(5), Some(5), true),
            (GET_10, 200, "5", Unknown, Length(5), Some(5), true),
            // rule 9: never chunked in HTTP/1.0
            (GET_10, 200, "", Unknown, UntilClose, None, false),
            // rule 22: what is declared wins, the writer cuts or aborts
            (GET, 200, "3", Known(5), Length(3), Some(3), true),
            (GET, 200, "9", Known(5), Length(9), Some(9), true),
        ];
        for (request, status, declared, body, framing, content_length, persistent) in table {
            let expected = Plan { framing, persistent, content_length };
            let fields = declaring(declared);
            assert_eq!(plan(request, status, &fields, body), expected, "{status} {body:?}");
        }
    }

    #[test]
    fn rule_21_no_body_whatever_the_application_yields() {
        // request, status, declared, body: Content-Length stated, persistent
        let table = [
            (HEAD, 200, "5", Known(0), Some(5), true),
            (HEAD, 200, "5", Unknown, Some(5), true),
            (HEAD, 200, "", Known(7), Some(7), true),
            (HEAD, 200, "", Known(0), None, true),
            (HEAD, 200, "", Unknown, None, true),
            (HEAD, 204, "5", Known(5), None, true),
            (GET, 204, "5", Known(5), None, true),
            (GET, 204, "", Unknown, None, true),
            (GET, 205, "5", Known(5), Some(0), true),
            (GET, 304, "5", Known(0), Some(5), true),
            (GET, 304, "", Known(5), None, true),
            (HEAD, 304, "5", Unknown, Some(5), true),
            (GET, 100, "5", Known(5), None, false),
            (GET, 199, "", Unknown, None, false),
            (GET_10, 204, "", Unknown, None, true),
        ];
        for (request, status, declared, body, content_length, persistent) in table {
            let expected = Plan { framing: BodyFraming::None, persistent, content_length };
            let fields = declaring(declared);
            assert_eq!(plan(request, status, &fields, body), expected, "{status} {body:?}");
        }
    }

    #[test]
    fn rule_23_content_length_never_stands_beside_chunks() {
        for request in [GET, HEAD, GET_10] {
            for status in 100..600 {
                for declared in ["", "0", "5"] {
                    for body in [Known(0), Known(5), Unknown] {
                        let plan = plan(request, status, &declaring(declared), body);
                        if matches!(plan.framing, Chunked | UntilClose) {
                            assert_eq!(plan.content_length, None);
                        }
                        if let Length(length) = plan.framing {
                            assert_eq!(plan.content_length, Some(length));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn either_side_can_close() {
        let mut fields = declaring("5");
        let asked = RequestFacts { persistent: false, ..GET };
        assert!(!plan(asked, 200, &fields, Known(5)).persistent);
        fields.push(b"Connection", b"close").expect("valid");
        assert!(!plan(GET, 200, &fields, Known(5)).persistent);
    }
}
