//! Handshakes as a table: what is asked, and what is answered.

use super::*;
use crate::encode::{ResponseFields, ServerFields};
use crate::head::HeadScanner;
use crate::limits::Limits;

/// The answer of the protocol, or the status that refuses.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Accepted(String),
    Ordinary,
    Refused(u16),
}

/// What becomes of a handshake with `fields` in place of, or besides, the usual ones.
fn open_with(request_line: &str, fields: &str, options: Option<&Options>) -> Outcome {
    let text = format!("{request_line}\r\nHost: a\r\n{fields}\r\n");
    let limits = Limits::default();
    let mut head = RequestHead::default();
    let length = HeadScanner::default().advance(text.as_bytes(), &limits, &mut head);
    assert_eq!(length, Ok(Some(text.len())), "{text}");
    let outcome = head
        .interpret(text.as_bytes(), &limits)
        .and_then(|()| Handshake::read(&head, text.as_bytes(), options));
    match outcome {
        Err(error) => Outcome::Refused(error.status()),
        Ok(None) => Outcome::Ordinary,
        Ok(Some(handshake)) => Outcome::Accepted(answer(&handshake, None)),
    }
}

fn open(fields: &str) -> Outcome {
    open_with("GET /chat HTTP/1.1", fields, None)
}

fn answer(handshake: &Handshake, subprotocol: Option<&[u8]>) -> String {
    let mut out = Vec::new();
    let server = ServerFields { date: None, server: None, request_id: None };
    let mut fields = ResponseFields::default();
    fields.push(b"X-A", b"b").expect("a valid field");
    handshake.put_head(&mut out, subprotocol, &fields, &server);
    String::from_utf8(out).expect("ASCII")
}

/// The value of Sec-WebSocket-Extensions that answers `offers`.
fn agreed_with(offers: &str, options: &Options) -> Option<String> {
    let fields = format!("{USUAL}Sec-WebSocket-Extensions: {offers}\r\n");
    match open_with("GET / HTTP/1.1", &fields, Some(options)) {
        Outcome::Accepted(answer) => {
            let (_, value) = answer.split_once("Sec-WebSocket-Extensions: ")?;
            Some(value.trim_end().to_owned())
        }
        outcome => Some(format!("{outcome:?}")),
    }
}

fn agreed(offers: &str) -> Option<String> {
    agreed_with(offers, &TAKEOVER)
}

const UPGRADE: &str = "Upgrade: websocket\r\nConnection: Upgrade\r\n";
const KEY: &str = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
const VERSION: &str = "Sec-WebSocket-Version: 13\r\n";
const USUAL: &str = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n\
     Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

/// Everything that can be had.
const TAKEOVER: Options = Options {
    server_takeover: true,
    client_takeover: true,
    server_window_bits: 15,
    client_window_bits: 15,
};

#[test]
fn the_example_of_the_rfc_is_accepted() {
    let expected = "HTTP/1.1 101 Switching Protocols\r\nX-A: b\r\nUpgrade: websocket\r\n\
         Connection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
    assert_eq!(open(USUAL), Outcome::Accepted(expected.to_owned()));
}

#[test]
fn members_of_lists_count_whatever_their_case_and_neighbours() {
    let fields = format!(
        "Upgrade: h2c, WebSocket\r\nConnection: keep-alive\r\nConnection: UPGRADE\r\n{KEY}{VERSION}"
    );
    assert!(matches!(open(&fields), Outcome::Accepted(_)));
}

#[test]
fn what_does_not_ask_for_a_websocket_is_an_ordinary_request() {
    let table = [
        ("POST / HTTP/1.1", USUAL.to_owned()),
        ("GET / HTTP/1.0", USUAL.to_owned()),
        ("GET / HTTP/1.1", String::new()),
        ("GET / HTTP/1.1", format!("Upgrade: h2c\r\nConnection: Upgrade\r\n{KEY}{VERSION}")),
        ("GET / HTTP/1.1", format!("Upgrade: websocket\r\n{KEY}{VERSION}")),
        ("GET / HTTP/1.1", format!("Connection: Upgrade\r\n{KEY}{VERSION}")),
    ];
    for (request_line, fields) in table {
        assert_eq!(open_with(request_line, &fields, None), Outcome::Ordinary, "{fields}");
    }
}

#[test]
fn a_handshake_that_is_wrong_is_refused() {
    let with = |fields: &str| format!("{UPGRADE}{fields}");
    let table = [
        (with(VERSION), 400),
        (with(&format!("{VERSION}{KEY}{KEY}")), 400),
        (with(&format!("{VERSION}Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=\r\n")), 400),
        (with(&format!("{VERSION}Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ\r\n")), 400),
        (with(&format!("{VERSION}Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQAA\r\n")), 400),
        (with(&format!("{VERSION}Sec-WebSocket-Key: dGhlIHNhbXBsZS-ub25jZQ==\r\n")), 400),
        (with(&format!("{VERSION}Sec-WebSocket-Key: dGhlIHNhbXBsZQ==\r\n")), 400),
        (with(&format!("{VERSION}Sec-WebSocket-Key:\r\n")), 400),
        (with(KEY), 426),
        (with(&format!("{KEY}{VERSION}{VERSION}")), 426),
        (with(&format!("{KEY}Sec-WebSocket-Version: 8\r\n")), 426),
        (with(&format!("{KEY}Sec-WebSocket-Version: 13, 8\r\n")), 426),
        (with(&format!("{KEY}{VERSION}Content-Length: 1\r\n")), 400),
        (with(&format!("{KEY}{VERSION}Transfer-Encoding: chunked\r\n")), 400),
        (with(&format!("{KEY}{VERSION}Sec-WebSocket-Protocol: a b\r\n")), 400),
        (with(&format!("{KEY}{VERSION}Sec-WebSocket-Extensions: a b\r\n")), 400),
    ];
    for (fields, status) in table {
        assert_eq!(open(&fields), Outcome::Refused(status), "{fields}");
    }
}

#[test]
fn an_empty_body_and_bits_beyond_the_key_are_let_through() {
    let fields = format!("{USUAL}Content-Length: 0\r\n");
    assert!(matches!(open(&fields), Outcome::Accepted(_)));
    let fields = format!("{UPGRADE}{VERSION}Sec-WebSocket-Key: abcdefghijklmnopqrstuv==\r\n");
    assert!(matches!(open(&fields), Outcome::Accepted(_)));
}

#[test]
fn subprotocols_are_given_in_order_and_one_is_answered() {
    let text = format!(
        "GET / HTTP/1.1\r\nHost: a\r\n{USUAL}Sec-WebSocket-Protocol: chat, super.chat\r\n\
         Sec-WebSocket-Protocol: v2,\r\n\r\n"
    );
    let mut head = RequestHead::default();
    let limits = Limits::default();
    let scanned = HeadScanner::default().advance(text.as_bytes(), &limits, &mut head);
    assert_eq!((scanned.is_ok(), head.interpret(text.as_bytes(), &limits)), (true, Ok(())));
    let offered: Vec<&[u8]> = subprotocols(&head, text.as_bytes()).collect();
    assert_eq!(offered, [&b"chat"[..], b"super.chat", b"v2"]);
    let handshake = Handshake::read(&head, text.as_bytes(), None).ok().flatten();
    let answer = answer(&handshake.expect("a handshake"), Some(b"v2"));
    assert!(answer.ends_with("\r\nSec-WebSocket-Protocol: v2\r\n\r\n"), "{answer}");
}

#[test]
fn compression_is_agreed_on_as_offered() {
    let table = [
        ("permessage-deflate", Some("permessage-deflate")),
        ("permessage-deflate; client_max_window_bits", Some("permessage-deflate")),
        (
            "permessage-deflate; server_no_context_takeover; client_no_context_takeover",
            Some("permessage-deflate; server_no_context_takeover; client_no_context_takeover"),
        ),
        (
            "permessage-deflate; server_max_window_bits=10; client_max_window_bits=\"9\"",
            Some("permessage-deflate; server_max_window_bits=10; client_max_window_bits=9"),
        ),
        (
            "permessage-deflate; server_max_window_bits=15",
            Some("permessage-deflate; server_max_window_bits=15"),
        ),
        (
            "permessage-deflate; client_max_window_bits=8",
            Some("permessage-deflate; client_max_window_bits=8"),
        ),
        ("x-webkit-deflate-frame, permessage-deflate", Some("permessage-deflate")),
        ("permessage-bzip2", None),
        ("Permessage-Deflate", None),
    ];
    for (offers, expected) in table {
        assert_eq!(agreed(offers).as_deref(), expected, "{offers}");
    }
}

#[test]
fn an_offer_with_an_invalid_parameter_is_declined_and_the_next_one_taken() {
    let invalid = [
        "server_no_context_takeover=1",
        "client_no_context_takeover=\"\"",
        "server_no_context_takeover; server_no_context_takeover",
        "client_max_window_bits; client_max_window_bits=10",
        "server_max_window_bits=10; server_max_window_bits=10",
        "server_max_window_bits",
        "server_max_window_bits=7",
        "server_max_window_bits=8",
        "server_max_window_bits=16",
        "server_max_window_bits=09",
        "server_max_window_bits=1",
        "server_max_window_bits=x",
        "client_max_window_bits=7",
        "client_max_window_bits=+9",
        "client_max_window_bits=115",
        "mux",
        "SERVER_NO_CONTEXT_TAKEOVER",
    ];
    for params in invalid {
        let offer = format!("permessage-deflate; {params}");
        assert_eq!(agreed(&offer), None, "{offer}");
        let offers = format!("{offer}, permessage-deflate; client_no_context_takeover");
        let expected = "permessage-deflate; client_no_context_takeover";
        assert_eq!(agreed(&offers).as_deref(), Some(expected), "{offers}");
    }
}

#[test]
fn by_default_no_context_is_taken_over() {
    let both = "permessage-deflate; server_no_context_takeover; client_no_context_takeover";
    let options = Options::default();
    for offer in ["permessage-deflate", both] {
        assert_eq!(agreed_with(offer, &options).as_deref(), Some(both));
    }
}

#[test]
fn windows_are_made_smaller_where_the_client_lets_them() {
    let options = Options { server_window_bits: 11, client_window_bits: 12, ..TAKEOVER };
    let table = [
        ("permessage-deflate", "; server_max_window_bits=11"),
        (
            "permessage-deflate; client_max_window_bits",
            "; server_max_window_bits=11; client_max_window_bits=12",
        ),
        (
            "permessage-deflate; client_max_window_bits=10; server_max_window_bits=9",
            "; server_max_window_bits=9; client_max_window_bits=10",
        ),
        ("permessage-deflate; server_max_window_bits=13", "; server_max_window_bits=11"),
    ];
    for (offer, expected) in table {
        let expected = format!("permessage-deflate{expected}");
        assert_eq!(agreed_with(offer, &options), Some(expected), "{offer}");
    }
}

#[test]
fn compression_that_is_off_is_declined() {
    let fields = format!("{USUAL}Sec-WebSocket-Extensions: permessage-deflate\r\n");
    match open(&fields) {
        Outcome::Accepted(answer) => assert!(!answer.contains("Extensions"), "{answer}"),
        outcome => panic!("{outcome:?}"),
    }
}
