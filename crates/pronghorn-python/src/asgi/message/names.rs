//! The types of messages.

use crate::asgi::stage::{Frame, Part};

/// All that an application may send to a request.
pub(in crate::asgi) const RESPONSE: [(&str, Part); 7] = [
    ("http.response.start", Part::Start),
    ("http.response.body", Part::Body),
    ("http.response.zerocopysend", Part::ZeroCopySend),
    ("http.response.pathsend", Part::PathSend),
    ("http.response.early_hint", Part::EarlyHint),
    ("http.response.trailers", Part::Trailers),
    ("http.response.debug", Part::Debug),
];

/// All that an application may send to a WebSocket.
pub(in crate::asgi) const WEBSOCKET: [(&str, Frame); 5] = [
    ("websocket.send", Frame::Send),
    ("websocket.accept", Frame::Accept),
    ("websocket.close", Frame::Close),
    ("websocket.http.response.start", Frame::Deny(Part::Start)),
    ("websocket.http.response.body", Frame::Deny(Part::Body)),
];
