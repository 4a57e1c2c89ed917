//! A request as its application talks to it, whether it is for a response or for a WebSocket.

use std::{rc::Rc, sync::Arc};

use pronghorn_engine::{Dialogue, Summary};
use pyo3::{prelude::*, types::PyDict};

use super::{
    host::Host,
    http::Http,
    raw::{Conversation, Ended, Outcome, Sent},
    websocket::WebSocket,
};

/// A request of either kind.
pub(super) enum Either {
    Http(Http),
    WebSocket(WebSocket),
}

impl Either {
    pub(super) fn new(host: &Rc<Host>, dialogue: Box<Dialogue>) -> Self {
        match dialogue.asks_for_websocket() {
            true => Either::WebSocket(WebSocket::new(host, dialogue)),
            false => Either::Http(Http::new(host, dialogue)),
        }
    }

    /// What both have in common.
    pub(super) fn http(&self) -> &Http {
        match self {
            Either::Http(http) => http,
            Either::WebSocket(websocket) => &websocket.http,
        }
    }
}

impl Conversation for Either {
    #[inline]
    fn receive<'py>(&self, py: Python<'py>) -> PyResult<Outcome<'py>> {
        match self {
            Either::Http(http) => http.receive(py),
            Either::WebSocket(websocket) => websocket.receive(py),
        }
    }

    #[inline]
    fn send(&self, message: &Bound<'_, PyDict>) -> PyResult<Sent> {
        match self {
            Either::Http(http) => http.send(message),
            Either::WebSocket(websocket) => websocket.send(message),
        }
    }

    fn has_room(&self, py: Python<'_>) -> PyResult<bool> {
        self.http().has_room(py)
    }

    fn summary(&self) -> &Arc<Summary> {
        self.http().summary()
    }

    fn stops_receiving(&self) {
        self.http().stops_receiving();
    }

    fn is_done(&self) -> bool {
        self.http().is_done()
    }

    fn ended(&self, py: Python<'_>, how: Ended<'_>) {
        match self {
            Either::Http(http) => http.ended(py, how),
            Either::WebSocket(websocket) => websocket.ended(py, how),
        }
    }
}
