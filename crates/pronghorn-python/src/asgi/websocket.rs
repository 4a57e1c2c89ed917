//! A WebSocket as its application talks to it.

use std::{cell::Cell, rc::Rc, sync::Arc};

use pronghorn_engine::{BodyBuffer, Dialogue, Gone, Next, Payload, Received, Room, Summary};
use pronghorn_proto::websocket::{Kind, handshake::subprotocols};
use pyo3::{
    exceptions::{PyRuntimeError, PyValueError, asyncio::CancelledError},
    prelude::*,
    types::{PyBytes, PyDict, PyString},
};

use super::{
    failure,
    host::Host,
    http::Http,
    message::{Data, Message, WEBSOCKET},
    raw::{Conversation, Ended, Outcome, Sent},
    stage::{self, Frame, Part},
};
use crate::raw::{BytesBuffer, Kept, copied, kept_text, set};

/// One WebSocket. A response that denies it is HTTP's.
pub(super) struct WebSocket {
    pub(super) http: Http,
    stage: Cell<stage::WebSocket>,
    /// The application has received websocket.connect.
    is_connected: Cell<bool>,
}

/// What an application gets.
enum Event<'py> {
    Connect,
    Text(Bound<'py, PyString>),
    Bytes(Bound<'py, PyBytes>),
    Disconnect(u16, String),
}

impl WebSocket {
    /// The conversation about the WebSocket that `dialogue` asks for.
    pub(super) fn new(host: &Rc<Host>, dialogue: Box<Dialogue>) -> Self {
        WebSocket {
            http: Http::new(host, dialogue),
            stage: Cell::default(),
            is_connected: Cell::new(false),
        }
    }

    /// The server stops: the client is told so, if it was accepted.
    pub(super) fn go_away(&self) {
        if self.stage.get() == stage::WebSocket::Open
            && let Ok(mut dialogue) = self.http.dialogue()
        {
            dialogue.close(GOING_AWAY, "the server stops");
            self.stage.set(stage::WebSocket::Closed(GOING_AWAY));
            self.http.note_gone();
        }
    }

    fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<Event<'py>>> {
        if !self.is_connected.replace(true) {
            return Ok(Some(Event::Connect));
        }
        let Ok(mut dialogue) = self.http.dialogue() else {
            return Ok(Some(Event::Disconnect(ABNORMAL, String::new())));
        };
        match self.stage.get() {
            stage::WebSocket::Open => next_message(py, &mut dialogue),
            stage::WebSocket::Closed(code) => Ok(Some(Event::Disconnect(code, String::new()))),
            _ => Ok(wait_for_disconnect(&mut dialogue)),
        }
    }

    fn event<'py>(&self, py: Python<'py>, event: Event<'py>) -> PyResult<Bound<'py, PyAny>> {
        let words = self.http.words();
        let dict = PyDict::new(py);
        match event {
            Event::Connect => set(&dict, &words.kind, words.websocket_connect.bind(py))?,
            Event::Text(text) => {
                set(&dict, &words.kind, words.websocket_receive.bind(py))?;
                set(&dict, &words.text, &text)?;
            }
            Event::Bytes(bytes) => {
                set(&dict, &words.kind, words.websocket_receive.bind(py))?;
                set(&dict, &words.bytes, &bytes)?;
            }
            Event::Disconnect(code, reason) => {
                set(&dict, &words.kind, words.websocket_disconnect.bind(py))?;
                dict.set_item(&words.code, code)?;
                dict.set_item(&words.reason, reason)?;
            }
        }
        Ok(dict.into_any())
    }

    fn accept(&self, message: Message<'_, '_>) -> PyResult<Sent> {
        let chosen = message.subprotocol()?;
        let chosen = chosen.as_ref().map(|name| name.to_str()).transpose()?;
        let mut fields = std::mem::take(self.http.dialogue()?.fields());
        fields.clear();
        let taken = message.handshake_headers(&mut fields);
        let mut dialogue = self.http.dialogue()?;
        taken.and_then(|()| message.admit(self.stage.get().check(Frame::Accept)))?;
        if let Some(name) = chosen.filter(|name| !is_offered(&dialogue, name)) {
            return Err(PyValueError::new_err(format!(
                "websocket.accept has the subprotocol {name:?}, which the client does not offer: choose one of the scope's subprotocols"
            )));
        }
        *dialogue.fields() = fields;
        dialogue.accept(chosen.map(str::as_bytes)).map_err(|gone| self.http.gone(gone))?;
        drop(dialogue);
        self.stage.set(stage::WebSocket::Open);
        if self.http.is_draining() {
            // Whoever was there when the drain began was told then.
            self.go_away();
        }
        Ok(Sent::Done)
    }

    fn send_data(&self, message: Message<'_, '_>) -> PyResult<Sent> {
        let data = message.data()?;
        let mut dialogue = self.http.dialogue()?;
        let room = match &data {
            Data::Bytes(bytes) => {
                dialogue.send_message(Kind::Binary, bytes.as_bytes(), || Box::new(Kept::new(bytes)))
            }
            Data::Text(text) => {
                let utf8 = text.to_str()?;
                dialogue.send_message(Kind::Text, utf8.as_bytes(), || kept_text(text))
            }
        };
        match room {
            Ok(Room::Free) => Ok(Sent::Done),
            Ok(Room::Full) => Ok(Sent::Full),
            Err(gone) => Err(self.http.gone(gone)),
        }
    }

    fn close(&self, message: Message<'_, '_>) -> PyResult<Sent> {
        let (code, reason) = message.close()?;
        let mut dialogue = self.http.dialogue()?;
        if self.stage.replace(stage::WebSocket::Closed(code)) == stage::WebSocket::Connecting {
            dialogue.fields().clear();
            let denied = dialogue.respond(403, b"Forbidden", b"", || Box::new([]));
            return denied.map(|()| Sent::Done).map_err(|gone| self.http.gone(gone));
        }
        dialogue.close(code, &reason);
        Ok(Sent::Done)
    }

    fn deny(&self, message: Message<'_, '_>, part: Part) -> PyResult<Sent> {
        let sent = self.http.take(message, part)?;
        self.stage.set(stage::WebSocket::Denying(self.http.stage()));
        Ok(sent)
    }

    /// Tells people what is wrong with the end of the application.
    fn report(&self, py: Python<'_>, dialogue: &mut Dialogue, how: &Ended<'_>) {
        let label = dialogue.label();
        let stage = self.stage.get();
        let is_open = matches!(stage, stage::WebSocket::Connecting | stage::WebSocket::Open);
        match how {
            Ended::Raised(error) => {
                let is_gone = self.http.knows_gone() || is_open && dialogue.room().is_err();
                let is_excused = is_gone || error.is_instance_of::<CancelledError>(py);
                if failure::is_fatal(py, error) || !is_excused {
                    failure::report(py, &label, error);
                } else {
                    log::debug!("{label}: the application ended by {error}");
                }
                dialogue.fail();
            }
            Ended::Returned if stage == stage::WebSocket::Connecting && dialogue.room().is_ok() => {
                log::error!(
                    "{label}: the application returned before it answered: it has to send websocket.accept or websocket.close"
                );
            }
            Ended::Returned | Ended::Closed => {}
        }
    }
}

impl Conversation for WebSocket {
    fn receive<'py>(&self, py: Python<'py>) -> PyResult<Outcome<'py>> {
        match self.next(py)? {
            Some(event) => {
                if let (Event::Disconnect(code, _), stage::WebSocket::Open) =
                    (&event, self.stage.get())
                {
                    self.stage.set(stage::WebSocket::Closed(*code));
                    self.http.note_gone();
                }
                self.event(py, event).map(Outcome::Ready)
            }
            None => Ok(Outcome::Pending),
        }
    }

    fn send(&self, message: &Bound<'_, PyDict>) -> PyResult<Sent> {
        let (message, frame) = Message::read(message, self.http.words(), &WEBSOCKET)?;
        if self.http.knows_gone() {
            return Err(self.http.gone(Gone));
        }
        message.admit(self.stage.get().check(frame))?;
        match frame {
            Frame::Send => self.send_data(message),
            Frame::Accept => self.accept(message),
            Frame::Close => self.close(message),
            Frame::Deny(part) => self.deny(message, part),
        }
    }

    fn has_room(&self, py: Python<'_>) -> PyResult<bool> {
        self.http.has_room(py)
    }

    fn summary(&self) -> &Arc<Summary> {
        self.http.summary()
    }

    fn ended(&self, py: Python<'_>, how: Ended<'_>) {
        if let Some(mut dialogue) = self.http.take_dialogue() {
            self.report(py, &mut dialogue, &how);
            dialogue.end();
        }
        self.http.forget();
    }
}

fn next_message<'py>(py: Python<'py>, dialogue: &mut Dialogue) -> PyResult<Option<Event<'py>>> {
    let mut event = Ok(None);
    let next = dialogue.next_message(&mut |kind, data| {
        event = match (kind, data) {
            (Kind::Binary, Payload::Slice(bytes)) => {
                copied(py, bytes).map(|it| Some(Event::Bytes(it)))
            }
            // Checked by the codec.
            (Kind::Text, Payload::Slice(bytes)) => {
                PyString::from_bytes(py, bytes).map(|text| Some(Event::Text(text)))
            }
            (_, Payload::Lent(buffer)) => lent(py, buffer).map(|bytes| Some(Event::Bytes(bytes))),
        };
    });
    match next {
        Next::Message | Next::Pending => event,
        Next::Ended(close) => Ok(Some(Event::Disconnect(close.code, close.reason))),
    }
}

/// The object that `buffer` has become.
fn lent(py: Python<'_>, buffer: Box<dyn BodyBuffer>) -> PyResult<Bound<'_, PyBytes>> {
    let buffer = buffer.into_any().downcast::<BytesBuffer>();
    buffer.map_err(|_| PyRuntimeError::new_err("a message is in memory of another kind"))?.part(py)
}

fn wait_for_disconnect<'py>(dialogue: &mut Dialogue) -> Option<Event<'py>> {
    loop {
        match dialogue.receive() {
            Received::Disconnect => return Some(Event::Disconnect(ABNORMAL, String::new())),
            Received::Pending => return None,
            Received::Slice(..) | Received::Body(..) | Received::End => {}
        }
    }
}

fn is_offered(dialogue: &Dialogue, name: &str) -> bool {
    let Some(head) = dialogue.head() else { return false };
    subprotocols(head, dialogue.head_bytes()).any(|offered| offered == name.as_bytes())
}

/// RFC 6455 section 7.4.1: without a close frame, and as the server stops.
const ABNORMAL: u16 = 1006;
const GOING_AWAY: u16 = 1001;
