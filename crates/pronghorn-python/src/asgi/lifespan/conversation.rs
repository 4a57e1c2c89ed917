//! What the application and the server say to each other in the lifespan protocol: `receive` and `send`, and what may be said when.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::{
    exceptions::{PyRuntimeError, PyTypeError, PyValueError},
    intern,
    prelude::*,
    types::PyDict,
};

/// `receive` and `send` of the lifespan, and what was said so far. Both give futures of the loop.
#[pyclass(frozen)]
pub(super) struct Conversation {
    event_loop: Py<PyAny>,
    state: Mutex<State>,
}

/// What was said.
struct State {
    phase: Phase,
    /// The event that the application has not received yet.
    event: Option<&'static str>,
    /// What the application has sent about the event of this phase.
    answer: Option<Answer>,
    /// Done when the application has answered.
    answered: Py<PyAny>,
    /// Calls of `receive` that wait for an event.
    receivers: Vec<Py<PyAny>>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    StartingUp,
    ShuttingDown,
}

impl Phase {
    fn event(self) -> &'static str {
        match self {
            Phase::StartingUp => "lifespan.startup",
            Phase::ShuttingDown => "lifespan.shutdown",
        }
    }
}

/// What the application says to an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// It is done.
    Complete,
    /// It failed, with the text for a person.
    Failed(String),
}

impl Conversation {
    /// A conversation that begins with the start-up.
    ///
    /// # Errors
    /// `MemoryError`.
    pub(super) fn new<'py>(event_loop: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        let state = State {
            phase: Phase::StartingUp,
            event: Some(Phase::StartingUp.event()),
            answer: None,
            answered: future(event_loop)?.unbind(),
            receivers: Vec::new(),
        };
        let conversation =
            Conversation { event_loop: event_loop.clone().unbind(), state: Mutex::new(state) };
        Bound::new(event_loop.py(), conversation)
    }

    /// Goes on to the shutdown, of which the application is told. Nothing happens the second time.
    ///
    /// # Errors
    /// The loop is closed.
    pub(super) fn shut_down(&self, py: Python<'_>) -> PyResult<()> {
        let answered = future(self.event_loop.bind(py))?.unbind();
        let receivers = {
            let mut state = self.state();
            if state.phase == Phase::ShuttingDown {
                return Ok(());
            }
            state.phase = Phase::ShuttingDown;
            state.event = Some(Phase::ShuttingDown.event());
            state.answer = None;
            state.answered = answered;
            std::mem::take(&mut state.receivers)
        };
        receivers.into_iter().try_for_each(|receiver| self.give(receiver.bind(py)))
    }

    /// A future that is done when the application has answered the event of this phase.
    pub(super) fn answered<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.state().answered.bind(py).clone()
    }

    /// What the application has answered to the event of this phase.
    pub(super) fn answer(&self) -> Option<Answer> {
        self.state().answer.clone()
    }

    /// Whether the application has received the event of this phase.
    pub(super) fn has_received(&self) -> bool {
        self.state().event.is_none()
    }

    /// Whether the application was told of the shutdown.
    pub(super) fn is_shutting_down(&self) -> bool {
        self.state().phase == Phase::ShuttingDown
    }

    /// Whether a failure of the task now is nobody's but the log's: nothing was asked that waits for an answer.
    pub(super) fn is_idle(&self) -> bool {
        let state = self.state();
        state.phase == Phase::StartingUp && state.answer == Some(Answer::Complete)
    }

    /// Gives `receiver` the event that waits, or has it wait for one.
    fn give(&self, receiver: &Bound<'_, PyAny>) -> PyResult<()> {
        if is_done(receiver)? {
            return Ok(());
        }
        let Some(event) = self.state().event.take() else {
            self.state().receivers.push(receiver.clone().unbind());
            return Ok(());
        };
        let message = PyDict::new(receiver.py());
        message.set_item("type", event)?;
        receiver.call_method1("set_result", (message,)).map(drop)
    }

    /// Notes what the application says, if it may say so now.
    fn take(&self, kind: &str, message: &Bound<'_, PyDict>) -> PyResult<()> {
        let (phase, is_failure) = meaning(kind)?;
        let answer = if is_failure { Answer::Failed(text(message)?) } else { Answer::Complete };
        let answered = {
            let mut state = self.state();
            check_order(kind, phase, &state)?;
            state.answer = Some(answer);
            state.answered.clone_ref(message.py())
        };
        settle(answered.bind(message.py()))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Conversation {
    /// The next event: lifespan.startup, then lifespan.shutdown, then nothing.
    fn receive<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let receiver = future(self.event_loop.bind(py))?;
        self.give(&receiver)?;
        Ok(receiver)
    }

    /// Takes a message of the application; RuntimeError, ValueError or TypeError when it cannot be.
    fn send<'py>(&self, message: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let message = message.cast::<PyDict>().map_err(|_| not_a_message(message))?;
        let kind = message.get_item(intern!(message.py(), "type"))?;
        let kind = kind.and_then(|kind| kind.extract::<String>().ok());
        self.take(&kind.ok_or_else(|| not_a_message(message))?, message)?;
        let sent = future(self.event_loop.bind(message.py()))?;
        settle(&sent)?;
        Ok(sent)
    }
}

/// Which event a message answers, and whether it says that it failed.
fn meaning(kind: &str) -> PyResult<(Phase, bool)> {
    match kind {
        "lifespan.startup.complete" => Ok((Phase::StartingUp, false)),
        "lifespan.startup.failed" => Ok((Phase::StartingUp, true)),
        "lifespan.shutdown.complete" => Ok((Phase::ShuttingDown, false)),
        "lifespan.shutdown.failed" => Ok((Phase::ShuttingDown, true)),
        _ => Err(PyValueError::new_err(format!(
            "{kind:?} is no message of the lifespan protocol. Send lifespan.startup.complete, lifespan.startup.failed, \
             lifespan.shutdown.complete or lifespan.shutdown.failed."
        ))),
    }
}

fn check_order(kind: &str, phase: Phase, state: &State) -> PyResult<()> {
    let wrong = match (phase, state.phase) {
        (Phase::ShuttingDown, Phase::StartingUp) => {
            format!(
                "{kind} was sent before lifespan.shutdown was received. Await receive() for it first."
            )
        }
        (Phase::StartingUp, Phase::ShuttingDown) => {
            format!("{kind} was sent after lifespan.shutdown. Send lifespan.shutdown.complete.")
        }
        _ if state.answer.is_some() => {
            format!("{kind} was sent, but {} is answered already. Answer it once.", phase.event())
        }
        _ => return Ok(()),
    };
    Err(PyRuntimeError::new_err(wrong))
}

/// The text of a failure; it may be left out.
fn text(message: &Bound<'_, PyDict>) -> PyResult<String> {
    let Some(text) = message.get_item(intern!(message.py(), "message"))? else {
        return Ok(String::new());
    };
    text.extract()
        .map_err(|_| PyTypeError::new_err("\"message\" of a lifespan failure must be a str"))
}

#[cold]
fn not_a_message(object: &Bound<'_, PyAny>) -> PyErr {
    let kind =
        object.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
    PyTypeError::new_err(format!(
        "send() takes a message: a dict with a str as \"type\", such as {{\"type\": \"lifespan.startup.complete\"}}. \
         It was given an object of type {kind}."
    ))
}

fn future<'py>(event_loop: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    event_loop.call_method0(intern!(event_loop.py(), "create_future"))
}

fn is_done(future: &Bound<'_, PyAny>) -> PyResult<bool> {
    future.call_method0(intern!(future.py(), "done"))?.is_truthy()
}

/// Ends a future without a result; whoever waited for it may have cancelled it.
fn settle(future: &Bound<'_, PyAny>) -> PyResult<()> {
    if is_done(future)? {
        return Ok(());
    }
    future.call_method1(intern!(future.py(), "set_result"), (future.py().None(),)).map(drop)
}
