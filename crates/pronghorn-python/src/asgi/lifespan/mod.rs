//! The lifespan protocol: the application is told of the start and of the end of its process, and may refuse the start.

mod conversation;

use std::time::{Duration, Instant};

use pyo3::{
    intern,
    prelude::*,
    types::{PyCFunction, PyDict, PyTuple},
};

use self::conversation::{Answer, Conversation};
use super::{
    await_stack::await_stack,
    ending::{FIRST, wait},
    event_loop::EventLoop,
    failure,
};
use crate::{
    app::{self, StartError},
    settings::{LifespanChoice, duration_text},
    statsd::EXCEPTION,
};

/// The lifespan of an application that has started.
pub(crate) struct Lifespan<'py> {
    state: Bound<'py, PyDict>,
    /// `None` for an application that is not asked, or does not know the protocol.
    running: Option<Running<'py>>,
}

/// The call of the application that is its lifespan.
struct Running<'py> {
    task: Bound<'py, PyAny>,
    conversation: Bound<'py, Conversation>,
}

/// How a phase ended.
enum Outcome {
    Answered(Answer),
    /// It said that it failed, and raised this too.
    Refused(String, PyErr),
    Raised(PyErr),
    Returned,
    /// Nothing was said in time; where the task waits.
    Silent(String),
}

/// The time a shutdown gets even if none is left.
const LEAST_SHUTDOWN: Duration = Duration::from_millis(500);

/// The time the application gets to end its task when it has said that its start-up failed.
const LAST_WORDS: Duration = Duration::from_secs(1);

impl<'py> Lifespan<'py> {
    /// Has `application` start up, for up to `within`, and runs the loop meanwhile.
    ///
    /// # Errors
    /// The start-up failed or took too long. The loop is then to be ended.
    pub(crate) fn start_up(
        event_loop: &EventLoop<'py>,
        application: &Bound<'py, PyAny>,
        choice: LifespanChoice,
        within: Duration,
    ) -> Result<Self, StartError> {
        let py = event_loop.py();
        let state = PyDict::new(py);
        if choice == LifespanChoice::Off {
            return Ok(Lifespan { state, running: None });
        }
        let failed = |error| app::raised(py, "starting the lifespan of the application", &error);
        let conversation = Conversation::new(event_loop.object()).map_err(failed)?;
        let begun = begin(event_loop, application, &conversation, &state);
        let running = match begun {
            Ok(task) => Running { task, conversation },
            Err(error) => {
                let outcome = Outcome::Raised(error);
                judge(py, outcome, false, choice, within)?;
                return Ok(Lifespan { state, running: None });
            }
        };
        let outcome = running.outcome(event_loop, Instant::now() + within).map_err(failed)?;
        let has_received = running.conversation.get().has_received();
        let outcome = running.with_last_words(event_loop, outcome).map_err(failed)?;
        let knows = judge(py, outcome, has_received, choice, within)?;
        if knows {
            running.tell_of_failures().map_err(failed)?;
        }
        Ok(Lifespan { state, running: knows.then_some(running) })
    }

    /// What the application has left for its requests: each gets a copy.
    pub(crate) fn state(&self) -> &Bound<'py, PyDict> {
        &self.state
    }

    /// Tells the application of the shutdown, and does not wait for it.
    pub(crate) fn announce_shutdown(&self) {
        let Some(running) = &self.running else { return };
        if let Err(error) = running.announce_shutdown() {
            log::warn!("the application cannot be told of the shutdown: {error}");
        }
    }

    /// What tells the application of the shutdown when it is called.
    pub(crate) fn announcement(&self) -> impl FnOnce(Python<'_>) + 'static {
        let running = self.running.as_ref();
        let running =
            running.map(|it| (it.task.clone().unbind(), it.conversation.clone().unbind()));
        move |py| {
            let Some((task, conversation)) = running else { return };
            let (task, conversation) = (task.into_bound(py), conversation.into_bound(py));
            let running = Some(Running { task, conversation });
            Lifespan { state: PyDict::new(py), running }.announce_shutdown();
        }
    }

    /// Has the application shut down, by `deadline`, and runs the loop meanwhile. What goes wrong is told in the log.
    pub(crate) fn shut_down(self, event_loop: &EventLoop<'py>, deadline: Instant) {
        self.announce_shutdown();
        let Some(running) = self.running.filter(Running::is_shutting_down) else { return };
        let deadline = deadline.max(Instant::now() + LEAST_SHUTDOWN);
        let outcome = running.outcome(event_loop, deadline);
        let outcome = outcome.and_then(|outcome| match outcome {
            Outcome::Answered(Answer::Complete) => running.after_completion(),
            outcome => running.with_last_words(event_loop, outcome),
        });
        tell_shutdown(event_loop.py(), outcome.unwrap_or_else(Outcome::Raised));
    }
}

impl<'py> Running<'py> {
    /// Tells the application of the shutdown, unless its task has ended before.
    fn announce_shutdown(&self) -> PyResult<()> {
        match self.is_done()? {
            true => Ok(()),
            false => self.conversation.get().shut_down(self.task.py()),
        }
    }

    fn is_shutting_down(&self) -> bool {
        self.conversation.get().is_shutting_down()
    }

    /// Runs the loop until the event of this phase is answered, the task has ended or the deadline is over.
    fn outcome(&self, event_loop: &EventLoop<'py>, deadline: Instant) -> PyResult<Outcome> {
        let conversation = self.conversation.get();
        if conversation.answer().is_none() && !self.is_done()? {
            let answered = conversation.answered(event_loop.py());
            wait(event_loop, &[self.task.clone(), answered], deadline, FIRST)?;
        }
        self.result()
    }

    fn result(&self) -> PyResult<Outcome> {
        if let Some(answer) = self.conversation.get().answer() {
            return Ok(Outcome::Answered(answer));
        }
        if !self.is_done()? {
            return Ok(Outcome::Silent(await_stack(&self.task)));
        }
        Ok(self.failure()?.map_or(Outcome::Returned, Outcome::Raised))
    }

    /// What the task that is done has raised.
    fn failure(&self) -> PyResult<Option<PyErr>> {
        match self.task.call_method0(intern!(self.task.py(), "exception")) {
            Ok(exception) if exception.is_none() => Ok(None),
            Ok(exception) => Ok(Some(PyErr::from_value(exception))),
            // It was cancelled.
            Err(error) => Ok(Some(error)),
        }
    }

    fn is_done(&self) -> PyResult<bool> {
        self.task.call_method0(intern!(self.task.py(), "done"))?.is_truthy()
    }

    /// An application that has said that its shutdown is complete may have raised by then.
    fn after_completion(&self) -> PyResult<Outcome> {
        let raised = if self.is_done()? { self.failure()? } else { None };
        Ok(raised.map_or(Outcome::Answered(Answer::Complete), Outcome::Raised))
    }

    /// An application that has said that its start-up failed may raise as well: its traceback is worth showing, if it has told none.
    fn with_last_words(&self, event_loop: &EventLoop<'py>, outcome: Outcome) -> PyResult<Outcome> {
        let Outcome::Answered(Answer::Failed(text)) = outcome else { return Ok(outcome) };
        let deadline = Instant::now() + LAST_WORDS;
        wait(event_loop, std::slice::from_ref(&self.task), deadline, FIRST)?;
        let raised = if self.is_done()? { self.failure()? } else { None };
        Ok(match raised {
            Some(error) if !text.contains(TRACEBACK) => Outcome::Refused(text, error),
            _ => Outcome::Answered(Answer::Failed(text)),
        })
    }

    /// Has the log tell when the task fails while the application serves.
    fn tell_of_failures(&self) -> PyResult<()> {
        let py = self.task.py();
        let conversation = self.conversation.clone().unbind();
        let tell =
            move |arguments: &Bound<'_, PyTuple>, _: Option<&Bound<'_, PyDict>>| -> PyResult<()> {
                let py = arguments.py();
                let running = Running {
                    task: arguments.get_item(0)?,
                    conversation: conversation.bind(py).clone(),
                };
                if running.conversation.get().is_idle()
                    && let Some(error) = running.failure()?
                {
                    tell_failure(
                        py,
                        "the lifespan of the application has failed; requests are served on",
                        &error,
                    );
                }
                Ok(())
            };
        let tell = PyCFunction::new_closure(py, None, None, tell)?;
        self.task.call_method1("add_done_callback", (tell,)).map(drop)
    }
}

/// Calls the application with the scope of its lifespan and gives the task.
fn begin<'py>(
    event_loop: &EventLoop<'py>,
    application: &Bound<'py, PyAny>,
    conversation: &Bound<'py, Conversation>,
    state: &Bound<'py, PyDict>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = event_loop.py();
    let arguments =
        (scope(state)?, conversation.getattr("receive")?, conversation.getattr("send")?);
    let awaitable = application.call1(arguments)?;
    let keywords = PyDict::new(py);
    keywords.set_item("loop", event_loop.object())?;
    let task = py.import("asyncio")?.call_method("ensure_future", (awaitable,), Some(&keywords))?;
    event_loop.own(std::slice::from_ref(&task));
    Ok(task)
}

fn scope<'py>(state: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
    let py = state.py();
    let versions = PyDict::new(py);
    versions.set_item("version", "3.0")?;
    versions.set_item("spec_version", "2.0")?;
    let scope = PyDict::new(py);
    scope.set_item("type", "lifespan")?;
    scope.set_item("asgi", versions)?;
    scope.set_item("state", state)?;
    Ok(scope)
}

/// Whether the application knows the protocol and has started.
fn judge(
    py: Python<'_>,
    outcome: Outcome,
    has_received: bool,
    choice: LifespanChoice,
    within: Duration,
) -> Result<bool, StartError> {
    match outcome {
        Outcome::Answered(Answer::Complete) => Ok(true),
        Outcome::Answered(Answer::Failed(text)) => Err(refused(&text)),
        Outcome::Refused(text, error) => Err(refused_and_raised(py, &text, &error)),
        Outcome::Silent(stack) => Err(silent(within, &stack)),
        Outcome::Raised(error) if failure::ends_loops(py, &error) => Err(raised(py, &error, "")),
        Outcome::Raised(error) if choice == LifespanChoice::On && has_received => {
            Err(raised(py, &error, ""))
        }
        Outcome::Raised(error) if choice == LifespanChoice::On => {
            Err(raised(py, &error, " Leave out lifespan on if it does not know the protocol."))
        }
        Outcome::Returned if choice == LifespanChoice::On => Err(StartError::new(
            "the application returned without an answer to lifespan.startup. Send lifespan.startup.complete, or leave \
             out lifespan on if it does not know the protocol.",
        )),
        Outcome::Raised(error) if has_received => {
            let what = "the application failed in its lifespan and is served without. With lifespan on it would not be, \
                        with lifespan off it is not asked";
            tell_failure(py, what, &error);
            Ok(false)
        }
        Outcome::Raised(_) | Outcome::Returned => {
            log::info!("the application does not know the lifespan protocol and is served without");
            Ok(false)
        }
    }
}

fn raised(py: Python<'_>, error: &PyErr, hint: &str) -> StartError {
    let message = format!(
        "the application failed in its lifespan. {}. The traceback shows where.{hint}",
        app::one_line(py, error)
    );
    StartError::with_traceback(message, app::traceback(py, error))
}

/// `text` is the application's, often a whole traceback.
fn refused(text: &str) -> StartError {
    let text = text.trim_end();
    match text.split_once('\n') {
        None if text.is_empty() => StartError::new(
            "the application says that its start-up failed, and not why. Give lifespan.startup.failed a \"message\".",
        ),
        None => StartError::new(format!("the start-up of the application failed. It says: {text}")),
        Some(_) => StartError::with_traceback(
            "the start-up of the application failed. It says what is below.".to_owned(),
            text.to_owned(),
        ),
    }
}

fn refused_and_raised(py: Python<'_>, text: &str, error: &PyErr) -> StartError {
    let why = if text.is_empty() { app::one_line(py, error) } else { text.trim_end().to_owned() };
    let message = format!("the start-up of the application failed. It says: {why}");
    StartError::with_traceback(message, app::traceback(py, error))
}

fn silent(within: Duration, stack: &str) -> StartError {
    StartError::with_traceback(
        format!(
            "the application has not answered lifespan.startup within {}. It waits in the line at the end. Raise \
             start-timeout, or turn lifespan off if it does not know the protocol.",
            duration_text(within)
        ),
        stack.to_owned(),
    )
}

fn tell_shutdown(py: Python<'_>, outcome: Outcome) {
    match outcome {
        Outcome::Answered(Answer::Complete) | Outcome::Returned => {}
        Outcome::Answered(Answer::Failed(text)) => {
            log::error!(target: EXCEPTION, "the application says that its shutdown failed: {}", text.trim_end());
        }
        Outcome::Raised(error) | Outcome::Refused(_, error) => {
            tell_failure(py, "the application failed when it was to shut down", &error)
        }
        Outcome::Silent(stack) => {
            log::warn!(
                "the application has not answered lifespan.shutdown in time, and is ended\n{}",
                stack.trim_end()
            );
        }
    }
}

fn tell_failure(py: Python<'_>, what: &str, error: &PyErr) {
    log::error!(target: EXCEPTION, "{what}\n{}", app::traceback(py, error).trim_end());
}

/// How Python begins a traceback.
const TRACEBACK: &str = "Traceback (most recent call last)";
