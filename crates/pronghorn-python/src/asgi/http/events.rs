//! The events of a request.

use std::rc::Rc;

use pronghorn_engine::{Dialogue, Piece, Received};
use pyo3::{
    prelude::*,
    types::{PyBool, PyBytes, PyDict, PyString},
};

use crate::{
    asgi::raw::Outcome,
    interned::Words,
    raw::{BytesBuffer, copied, set},
};

/// What the events of all requests have in common.
pub(in crate::asgi) struct Events {
    /// `http.request` with an empty body that has ended.
    request: Py<PyDict>,
    disconnect: Py<PyDict>,
    words: Rc<Words>,
}

/// What an application gets.
pub(super) enum Event<'py> {
    /// A part of the body, and whether more is to come.
    Body(Option<Bound<'py, PyBytes>>, bool),
    Disconnect,
    Pending,
}

impl Events {
    /// Prepares them.
    ///
    /// # Errors
    /// `MemoryError`.
    pub(in crate::asgi) fn new(py: Python<'_>, words: &Rc<Words>) -> PyResult<Self> {
        let (request, disconnect) = (PyDict::new(py), PyDict::new(py));
        set(&request, &words.kind, &PyString::new(py, "http.request"))?;
        set(&request, &words.body, &PyBytes::new(py, b""))?;
        set(&request, &words.more_body, &PyBool::new(py, false))?;
        set(&disconnect, &words.kind, &PyString::new(py, "http.disconnect"))?;
        Ok(Events {
            request: request.unbind(),
            disconnect: disconnect.unbind(),
            words: Rc::clone(words),
        })
    }

    /// Takes the next of the request. Runs no Python code.
    ///
    /// # Errors
    /// `MemoryError`.
    pub(super) fn next<'py>(
        &self,
        py: Python<'py>,
        dialogue: &mut Dialogue,
    ) -> PyResult<Event<'py>> {
        Ok(match dialogue.receive() {
            Received::Slice(bytes, more) => Event::Body(Some(copied(py, bytes)?), more),
            Received::Body(Piece::Memory(bytes), more) => {
                Event::Body(Some(copied(py, &bytes)?), more)
            }
            Received::Body(Piece::Lent(buffer), more) => {
                let buffer = buffer.into_any().downcast::<BytesBuffer>().ok();
                Event::Body(buffer.map(|buffer| buffer.part(py)).transpose()?, more)
            }
            Received::End => Event::Body(None, false),
            Received::Disconnect => Event::Disconnect,
            Received::Pending => Event::Pending,
        })
    }

    /// The event as the application has it.
    ///
    /// # Errors
    /// `MemoryError`.
    pub(super) fn outcome<'py>(
        &self,
        py: Python<'py>,
        event: Event<'py>,
    ) -> PyResult<Outcome<'py>> {
        match event {
            Event::Body(body, more) => {
                let event = self.request.bind(py).copy()?;
                if let Some(body) = body {
                    set(&event, &self.words.body, &body)?;
                }
                if more {
                    set(&event, &self.words.more_body, &PyBool::new(py, true))?;
                }
                Ok(Outcome::Ready(event.into_any()))
            }
            Event::Disconnect => Ok(Outcome::Ready(self.disconnect.bind(py).copy()?.into_any())),
            Event::Pending => Ok(Outcome::Pending),
        }
    }
}
