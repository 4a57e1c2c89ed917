//! The selector of asyncio's loop: one wait for the engine's descriptors and for those of the application.

use std::{
    cell::{Cell, RefCell},
    os::fd::AsFd,
    rc::Rc,
    time::{Duration, Instant},
};

use pyo3::{intern, prelude::*, types::PyList};

use super::{agenda::Agenda, engine::Engine};
use crate::{attach, raw};

/// The `select` of a selector of the standard library, which keeps the application's descriptors.
///
/// All else of that selector is as it was. With an engine, the engine's wait tells also of the selector's descriptor, and takes the
/// place of its wait.
#[pyclass(unsendable)]
pub(super) struct Select {
    /// The selector's own.
    own: Py<PyAny>,
    engine: RefCell<Option<Rc<dyn Engine>>>,
    /// That of the loop, if it is known.
    agenda: RefCell<Option<Agenda>>,
    /// How often this was called: an application may run the loop within a turn.
    calls: Cell<u64>,
}

/// A selector of the standard library with a [`Select`].
pub(super) struct Selector<'py> {
    object: Bound<'py, PyAny>,
    select: Bound<'py, Select>,
}

impl<'py> Selector<'py> {
    /// A selector without an engine as yet.
    ///
    /// # Errors
    /// No more descriptors; `MemoryError`.
    pub(super) fn new(py: Python<'py>) -> PyResult<Self> {
        let object = py.import("selectors")?.call_method0("DefaultSelector")?;
        let own = object.getattr(intern!(py, "select"))?.unbind();
        let select = Select {
            own,
            engine: RefCell::default(),
            agenda: RefCell::default(),
            calls: Cell::default(),
        };
        let select = Bound::new(py, select)?;
        object.setattr(intern!(py, "select"), select.getattr(intern!(py, "select"))?)?;
        Ok(Selector { object, select })
    }

    /// As Python sees it.
    pub(super) fn object(&self) -> &Bound<'py, PyAny> {
        &self.object
    }

    /// Waits for `engine` too from here on, in calls of `event_loop`.
    ///
    /// # Errors
    /// The system refuses to watch one more descriptor.
    pub(super) fn connect(
        &self,
        engine: Rc<dyn Engine>,
        event_loop: &Bound<'py, PyAny>,
    ) -> PyResult<()> {
        self.select.borrow().agenda.replace(Agenda::of(event_loop));
        let descriptor = raw::duplicate(self.object.call_method0("fileno")?.extract()?)?;
        engine.watch_also(descriptor.as_fd())?;
        self.select.borrow().engine.replace(Some(engine));
        Ok(())
    }

    /// Waits for the application's descriptors only.
    pub(super) fn disconnect(&self) {
        self.select.borrow().engine.replace(None);
    }

    /// Gives the selector its own `select` back: the two refer to each other.
    ///
    /// # Errors
    /// The application has done so already.
    pub(super) fn restore(&self) -> PyResult<()> {
        self.object.delattr(intern!(self.object.py(), "select"))
    }
}

#[pymethods]
impl Select {
    /// `selectors.BaseSelector.select`: a list of what is ready within `timeout` seconds; None is without end, 0 only looks.
    #[pyo3(signature = (timeout=None))]
    fn select<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        let engine = self.engine.borrow().clone();
        let Some(engine) = engine else { return self.own.bind(py).call1((timeout,)) };
        if self.wait(py, &*engine, timeout.map(millis)) {
            self.own.bind(py).call1((0,))
        } else {
            Ok(PyList::empty(py).into_any())
        }
    }
}

impl Select {
    /// Takes turns until there is something for the loop: a round that finds nothing costs more than a small turn. Gives whether the
    /// application's selector is ready.
    fn wait(&self, py: Python<'_>, engine: &dyn Engine, millis: Option<u64>) -> bool {
        let call = self.calls.get() + 1;
        self.calls.set(call);
        let timers = self.agenda.borrow().as_ref().and_then(|agenda| agenda.timers_alone(py));
        let end = millis.map(|millis| Instant::now() + Duration::from_millis(millis));
        let mut left = millis;
        loop {
            let turn = take_turn(py, engine, left);
            let is_idle = || {
                let agenda = self.agenda.borrow();
                let now = agenda.as_ref().and_then(|agenda| agenda.timers_alone(py));
                now.is_some() && now == timers && self.calls.get() == call
            };
            if turn.is_ready || !turn.was_busy || left == Some(0) || !is_idle() {
                return turn.is_ready;
            }
            left = end.map(|end| whole_millis(end.saturating_duration_since(Instant::now())));
        }
    }
}

/// What came of a turn.
struct Turn {
    was_busy: bool,
    /// Whether the application's selector is ready.
    is_ready: bool,
}

/// Waits and takes a turn.
///
/// It looks before it waits: with much to do there is always something, and the interpreter's lock need not be given away.
fn take_turn(py: Python<'_>, engine: &dyn Engine, millis: Option<u64>) -> Turn {
    engine.poll(Some(0));
    let was_busy = engine.turn(py);
    let is_ready = engine.takes_other();
    if was_busy || is_ready || millis == Some(0) {
        return Turn { was_busy, is_ready };
    }
    attach::detached(|| engine.poll(millis));
    let was_busy = engine.turn(py);
    Turn { was_busy, is_ready: engine.takes_other() }
}

/// Seconds as milliseconds, rounded up: a loop whose wait ends before its next timer would spin.
fn millis(seconds: f64) -> u64 {
    (seconds * 1e3).ceil() as u64
}

/// Rounded up, for the same reason.
fn whole_millis(left: Duration) -> u64 {
    left.as_nanos().div_ceil(1_000_000) as u64
}
