//! An HTTP request as its application talks to it.

mod events;
mod response;

use std::{
    cell::{Cell, RefCell, RefMut},
    rc::Rc,
    sync::Arc,
};

use pronghorn_engine::{Dialogue, Gone, Room, Summary};
use pronghorn_proto::encode::ResponseFields;
use pyo3::{
    exceptions::{PyBrokenPipeError, asyncio::CancelledError},
    prelude::*,
    types::PyDict,
};

use self::events::Event;
use super::{
    failure,
    host::Host,
    message::{Message, RESPONSE},
    raw::{Conversation, Ended, Outcome, Sent},
    stage::{Part, Response},
};
use crate::{debug, interned::Words, request::Request};

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
    /// Who runs it.
    host: Rc<Host>,
    summary: Arc<Summary>,
    /// Its client was answered in its place.
    is_late: Cell<bool>,
    /// To the application the client has gone, as the server stops.
    is_dismissed: Cell<bool>,
}

impl Http {
    /// The conversation about the request in `dialogue`.
    pub(super) fn new(host: &Rc<Host>, dialogue: Box<Dialogue>) -> Self {
        let debug = host.debug;
        Http {
            host: Rc::clone(host),
            summary: Arc::clone(dialogue.summary()),
            is_late: Cell::new(false),
            is_dismissed: Cell::new(false),
            dialogue: RefCell::new(Some(dialogue)),
            words: Rc::clone(host.scopes.words()),
            events: Rc::clone(&host.events),
            stage: Cell::default(),
            status: Cell::new(0),
            trailers: RefCell::default(),
            is_gone: Cell::new(false),
            kinds: kinds(debug),
            debug,
        }
    }

    pub(super) fn words(&self) -> &Words {
        &self.words
    }

    /// How far its response is.
    pub(super) fn stage(&self) -> Response {
        self.stage.get()
    }

    /// The application was told that the client has gone.
    pub(super) fn note_gone(&self) {
        self.is_gone.set(true);
    }

    /// Whether the application was told that the client has gone.
    pub(super) fn knows_gone(&self) -> bool {
        self.is_gone.get()
    }

    /// The dialogue, for its end.
    pub(super) fn take_dialogue(&self) -> Option<Box<Dialogue>> {
        self.dialogue.take()
    }

    /// Its task has ended.
    pub(super) fn forget(&self) {
        self.host.forget(self.summary.number());
    }

    /// Whether the server stops.
    pub(super) fn is_draining(&self) -> bool {
        self.host.deadline().is_some()
    }

    /// Whether nothing of the response has been sent.
    pub(super) fn is_open(&self) -> bool {
        self.dialogue.borrow().as_ref().is_some_and(|dialogue| dialogue.is_open())
    }

    pub(super) fn has_ended(&self) -> bool {
        self.dialogue.borrow().is_none()
    }

    /// The server stops: to a stream, its client has gone from now on.
    pub(super) fn dismiss(&self) {
        if matches!(self.stage.get(), Response::Body { .. }) {
            self.is_dismissed.set(true);
        }
    }

    /// The application took too long: its client is told so.
    pub(super) fn fail_late(&self) {
        self.is_late.set(true);
        if let Some(dialogue) = &mut *self.dialogue.borrow_mut() {
            dialogue.fail_late();
        }
    }

    /// There is no more time for it.
    pub(super) fn cut(&self) {
        self.is_gone.set(true);
        if let Some(dialogue) = &mut *self.dialogue.borrow_mut() {
            dialogue.abort();
        }
    }

    /// The dialogue, for as long as no Python code runs.
    ///
    /// # Errors
    /// `OSError` after the end of the application.
    pub(super) fn dialogue(&self) -> PyResult<RefMut<'_, Dialogue>> {
        let dialogue = RefMut::filter_map(self.dialogue.borrow_mut(), Option::as_deref_mut);
        dialogue.map_err(|_| self.gone(Gone))
    }

    /// What an application gets that sends to a client that has gone (ASGI, "Disconnected Client").
    pub(super) fn gone(&self, _: Gone) -> PyErr {
        self.is_gone.set(true);
        PyBrokenPipeError::new_err("the client closed the connection")
    }

    /// Tells people what is wrong with the end of the application: nothing, if the client did not stay for it.
    fn report(&self, py: Python<'_>, dialogue: &mut Dialogue, how: &Ended<'_>) -> Option<String> {
        let is_complete = self.stage.get() == Response::Complete;
        if is_complete && matches!(how, Ended::Returned) {
            return None;
        }
        let is_gone = self.is_gone.get() || !is_complete && dialogue.room().is_err();
        let label = || dialogue.label();
        match how {
            Ended::Raised(error) if failure::is_fatal(py, error) => {
                return Some(failure::report(py, &label(), error));
            }
            Ended::Raised(_) if self.is_late.get() => {
                log::info!("{}: has ended, as it was cancelled", label());
            }
            Ended::Raised(error) if !is_gone && !error.is_instance_of::<CancelledError>(py) => {
                return Some(failure::report(py, &label(), error));
            }
            Ended::Raised(_) if !is_gone && !is_complete => {
                log::error!("{}: the task was cancelled before the response was complete", label());
            }
            Ended::Raised(error) => log::debug!("{}: the application ended by {error}", label()),
            Ended::Returned if !is_complete && !is_gone => {
                let what = "the application returned before its response was complete";
                log::error!(
                    "{}: {what}: it has to send http.response.start and http.response.body",
                    label()
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
            Some(dialogue) if !self.is_dismissed.get() => self.events.next(py, dialogue)?,
            Some(_) | None => Event::Disconnect,
        };
        if matches!(event, Event::Disconnect) && self.stage.get() != Response::Complete {
            self.is_gone.set(true);
        }
        self.events.outcome(py, event)
    }

    fn send(&self, message: &Bound<'_, PyDict>) -> PyResult<Sent> {
        let (message, part) = Message::read(message, &self.words, self.kinds)?;
        if self.is_late.get() {
            return Err(self.gone(Gone));
        }
        message.admit(self.stage.get().check(part))?;
        self.take(message, part)
    }

    fn has_room(&self, _py: Python<'_>) -> PyResult<bool> {
        if self.stage.get() == Response::Complete {
            return Ok(true);
        }
        let room = self.dialogue()?.room();
        Ok(room.map_err(|gone| self.gone(gone))? == Room::Free)
    }

    fn stops_receiving(&self) {
        // While it is borrowed this may be called by a garbage collection, of an awaitable that nobody has any more.
        if let Ok(mut dialogue) = self.dialogue.try_borrow_mut()
            && let Some(dialogue) = &mut *dialogue
        {
            dialogue.stop_waiting();
        }
    }

    fn summary(&self) -> &Arc<Summary> {
        &self.summary
    }

    fn is_done(&self) -> bool {
        self.dialogue.borrow().as_ref().is_none_or(|dialogue| dialogue.is_done())
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
        self.forget();
    }
}

/// What an application may send; messages for tests of applications only with `debug`.
fn kinds(debug: bool) -> &'static [(&'static str, Part)] {
    if debug { &RESPONSE } else { &RESPONSE[..RESPONSE.len() - 1] }
}
