//! The words of ASGI: the keys of scopes and messages, and values that many of them share.

use pyo3::{prelude::*, types::PyString};

use super::Text;

/// Declares the struct from its words, each the name of its field.
macro_rules! words {
    ($($name:ident $text:literal,)*) => {
        /// The words of scopes and messages.
        pub(crate) struct Words { $(pub(crate) $name: Text,)* }

        impl Words {
            /// Interns them all.
            pub(crate) fn new(py: Python<'_>) -> Self {
                Words { $($name: PyString::intern(py, $text).unbind(),)* }
            }
        }
    };
}

words! {
    body "body",
    bytes "bytes",
    client "client",
    code "code",
    count "count",
    extensions "extensions",
    file "file",
    headers "headers",
    http_10 "1.0",
    http_version "http_version",
    https "https",
    info "info",
    links "links",
    method "method",
    more_body "more_body",
    more_trailers "more_trailers",
    offset "offset",
    path "path",
    query_string "query_string",
    raw_path "raw_path",
    reason "reason",
    root_path "root_path",
    scheme "scheme",
    server "server",
    state "state",
    status "status",
    subprotocol "subprotocol",
    subprotocols "subprotocols",
    text "text",
    websocket_connect "websocket.connect",
    websocket_disconnect "websocket.disconnect",
    websocket_receive "websocket.receive",
    trailers "trailers",
    kind "type",
    wss "wss",
}
