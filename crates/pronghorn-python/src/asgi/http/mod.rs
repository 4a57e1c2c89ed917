//! An HTTP request as its application talks to it.

mod events;
mod response;

use std::{
    cell::{Cell, RefCell, RefMut},
    rc::Rc,
};

use pronghorn_engine::{Dialogue, Gone, Room};
use pronghorn_proto::encode::ResponseFields;
use pyo3::{
    exceptions::{PyBrokenPipeError, PyException},
    prelude::*,
    types::PyDict,
};

use self::events::Event;
use super::{
    message::{Message, RESPONSE},
    raw::{Conversation, Ended, Outcome, Sent},
    stage::{Part, Response},
};
use crate::{app, debug, interned::Words, request::Request, statsd::EXCEPTION};

pub(super) use self::events::Events;

/// One request, its response, and how far that is.
pub(super) struct Http {
    /// `None` when the application has ended.
    dialogue: RefCell<Option<Box<Dialogue>>>,
    words: Rc<Words>,
    events: Rc<Events>,
    stage: Cell<Response>,
    status: Cell<u16>,
    /// Those that came so far.
    trailers: RefCell<ResponseFields>,
    /// Whether the application was told that the client has gone before the response was complete.
    is_gone: Cell<bool>,
    kinds: &'static [(&'static str, Part)],
    /// Whether clients see tracebacks.
    debug: bool,
}

impl Http {
    /// The conversation about the request in `dialogue`.
    pub(super) fn new(
        dialogue: Box<Dialogue>,
        words: &Rc<Words>,
        events: &Rc<Events>,
        debug: bool,
    ) -> Self {
        Http {
            dialogue: RefCell::new(Some(dialogue)),
            words: Rc::clone(words),
            events: Rc::clone(events),
            stage: Cell::default(),
            status: Cell::new(0),
            trailers: RefCell::default(),
            is_gone: Cell::new(false),
            kinds: kinds(debug),
            debug,
        }
    }

    /// The dialogue, for as long as no Python code runs.
    ///
    /// # Errors
    /// `OSError` after the end of the application.
    fn dialogue(&self) -> PyResult<RefMut<'_, Dialogue>> {
        let dialogue = RefMut::filter_map(self.dialogue.borrow_mut(), Option::as_deref_mut);
        dialogue.map_err(|_| self.gone(Gone))
    }

    /// What an application gets that sends to a client that has gone (ASGI, "Disconnected Client").
    fn gone(&self, _: Gone) -> PyErr {
        self.is_gone.set(true);
        PyBrokenPipeError::new_err("the client closed the connection")
    }

    /// Tells people what is wrong with the end of the application: nothing, if the client did not stay for it.
    fn report(&self, py: Python<'_>, dialogue: &mut Dialogue, how: &Ended<'_>) -> Option<String> {
        let is_complete = self.stage.get() == Response::Complete;
        let is_gone = self.is_gone.get() || !is_complete && dialogue.room().is_err();
        let label = dialogue.label();
        match how {
            Ended::Raised(error) if !is_gone && error.is_instance_of::<PyException>(py) => {
                let text = app::traceback(py, error);
                let shown = text.trim_end();
                log::error!(target: EXCEPTION, "{label}: the application failed\n{shown}");
                return Some(text);
            }
            Ended::Raised(error) => log::debug!("{label}: the application ended by {error}"),
            Ended::Returned if !is_complete && !is_gone => {
                let what = "the application returned before its response was complete";
                log::error!(
                    "{label}: {what}: it has to send http.response.start and http.response.body"
                );
            }
            Ended::Returned | Ended::Closed => {}
        }
        None
    }
}

impl Conversation for Http {
    fn receive<'py>(&self, py: Python<'py>) -> PyResult<Outcome<'py>> {
        let event = match self.dialogue.borrow_mut().as_deref_mut() {
            Some(dialogue) => self.events.next(py, dialogue)?,
            None => Event::Disconnect,
        };
        if matches!(event, Event::Disconnect) && self.stage.get() != Response::Complete {
            self.is_gone.set(true);
        }
        self.events.outcome(py, event)
    }

    fn send(&self, message: &Bound<'_, PyDict>) -> PyResult<Sent> {
        let (message, part) = Message::read(message, &self.words, self.kinds)?;
        message.admit(self.stage.get().check(part))?;
        self.take(message, part)
    }

    fn has_room(&self, _py: Python<'_>) -> PyResult<bool> {
        let room = self.dialogue()?.room();
        Ok(room.map_err(|gone| self.gone(gone))? == Room::Free)
    }

    fn ended(&self, py: Python<'_>, how: Ended<'_>) {
        let Some(mut dialogue) = self.dialogue.take() else { return };
        let traceback = self.report(py, &mut dialogue, &how);
        if let (Some(traceback), true) = (traceback, self.debug)
            && let Some(head) = dialogue.head()
        {
            let request = Request { head, bytes: dialogue.head_bytes() };
            let (content_type, page) = debug::page(request, &traceback);
            dialogue.fail_with(content_type, &page);
        }
        // This fails what is not complete.
        dialogue.end();
    }
}

/// What an application may send; messages for tests of applications only with `debug`.
fn kinds(debug: bool) -> &'static [(&'static str, Part)] {
    if debug { &RESPONSE } else { &RESPONSE[..RESPONSE.len() - 1] }
}
