//! A handshake: refused, or answered with one head that says what was agreed on.

use pronghorn_proto::encode::{ResponseFields, ServerFields};
use pronghorn_proto::websocket::deflate::Options;
use pronghorn_proto::websocket::{Handshake, handshake};
use pronghorn_proto::{HeadScanner, Limits, RequestHead};

/// Panics if `data`, a head, is answered in a way no handshake may be.
pub fn check(data: &[u8]) {
    let mut head = RequestHead::default();
    let limits = Limits::default();
    let scanned = HeadScanner::default().advance(data, &limits, &mut head);
    if !matches!(scanned, Ok(Some(_))) || head.interpret(data, &limits).is_err() {
        return;
    }
    let options = Options { client_takeover: true, server_window_bits: 12, ..Options::default() };
    let Ok(Some(accepted)) = Handshake::read(&head, data, Some(&options)) else { return };
    assert!(head.upgrade);
    for protocol in handshake::subprotocols(&head, data) {
        assert!(pronghorn_proto::field::is_token(protocol));
    }
    check_answer(&accepted);
}

fn check_answer(accepted: &Handshake) {
    let server = ServerFields { date: None, server: None, request_id: None };
    let mut out = Vec::new();
    accepted.put_head(&mut out, None, &ResponseFields::default(), &server);
    let answer = String::from_utf8(out).expect("ASCII");
    assert!(answer.starts_with("HTTP/1.1 101 Switching Protocols\r\n"));
    assert_eq!(answer.find("\r\n\r\n"), Some(answer.len() - 4));
    assert_eq!(answer.contains("permessage-deflate"), accepted.deflate.is_some());
    if let Some(agreement) = accepted.deflate {
        assert!((9..=12).contains(&agreement.server_window_bits()));
        assert!((9..=15).contains(&agreement.client_window_bits()));
        assert!(answer.contains("; server_no_context_takeover"));
    }
}
