//! The answer that accepts a handshake (RFC 6455 section 4.2.2).

use super::Handshake;
use crate::encode::{ResponseFields, ServerFields, write_switching};

impl Handshake {
    /// Appends the head of the response 101 to `out`. `subprotocol` is one of those offered, or
    /// none; `fields` are those of the application.
    pub fn put_head(
        &self,
        out: &mut Vec<u8>,
        subprotocol: Option<&[u8]>,
        fields: &ResponseFields,
        server: &ServerFields<'_>,
    ) {
        write_switching(out, fields, server);
        out.extend_from_slice(b"Upgrade: websocket\r\nConnection: Upgrade\r\n");
        out.extend_from_slice(b"Sec-WebSocket-Accept: ");
        out.extend_from_slice(&self.accept);
        out.extend_from_slice(b"\r\n");
        if let Some(subprotocol) = subprotocol {
            out.extend_from_slice(b"Sec-WebSocket-Protocol: ");
            out.extend_from_slice(subprotocol);
            out.extend_from_slice(b"\r\n");
        }
        if let Some(agreement) = &self.deflate {
            out.extend_from_slice(b"Sec-WebSocket-Extensions: ");
            agreement.put(out);
            out.extend_from_slice(b"\r\n");
        }
        out.extend_from_slice(b"\r\n");
    }
}
