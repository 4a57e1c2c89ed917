//! The selector of asyncio's loop: one wait for the engine's descriptors and for those of the application.

use std::{cell::RefCell, os::fd::AsFd, rc::Rc};

use pyo3::{intern, prelude::*, types::PyList};

use super::engine::Engine;
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
        let select = Bound::new(py, Select { own, engine: RefCell::new(None) })?;
        object.setattr(intern!(py, "select"), select.getattr(intern!(py, "select"))?)?;
        Ok(Selector { object, select })
    }

    /// As Python sees it.
    pub(super) fn object(&self) -> &Bound<'py, PyAny> {
        &self.object
    }

    /// Waits for `engine` too from here on.
    ///
    /// # Errors
    /// The system refuses to watch one more descriptor.
    pub(super) fn connect(&self, engine: Rc<dyn Engine>) -> PyResult<()> {
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
        if take_turn(py, &*engine, timeout.map(millis)) {
            self.own.bind(py).call1((0,))
        } else {
            Ok(PyList::empty(py).into_any())
        }
    }
}

/// Waits and takes a turn; whether the application's selector is ready.
///
/// It looks before it waits: with much to do there is always something, and the interpreter's lock need not be given away.
fn take_turn(py: Python<'_>, engine: &dyn Engine, millis: Option<u64>) -> bool {
    engine.poll(Some(0));
    let was_busy = engine.turn(py);
    let is_ready = engine.takes_other();
    if was_busy || is_ready || millis == Some(0) {
        return is_ready;
    }
    attach::detached(|| engine.poll(millis));
    engine.turn(py);
    engine.takes_other()
}

/// Seconds as milliseconds, rounded up: a loop whose wait ends before its next timer would spin.
fn millis(seconds: f64) -> u64 {
    (seconds * 1e3).ceil() as u64
}
