//! The event loop of a process: made, run and ended.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::Instant,
};

use pyo3::{exceptions::PyImportError, intern, prelude::*};

use super::{
    ending,
    engine::{Engine, Readable},
    failure,
    selector::Selector,
};
use crate::{
    app::{self, StartError},
    settings::LoopChoice,
};

/// The event loop that runs an ASGI application.
pub(crate) struct EventLoop<'py> {
    object: Bound<'py, PyAny>,
    /// That of asyncio's loop. uvloop has none in Python.
    selector: Option<Selector<'py>>,
    /// Tasks whose failures are told by those who have them.
    owned: RefCell<Vec<Bound<'py, PyAny>>>,
    /// The server has stopped the loop since a run of it began last.
    is_stopped: Rc<Cell<bool>>,
}

/// Stops the loop when it is called, as often as it is needed: a run within a run, of an application, may take a stop for itself.
#[pyclass(unsendable)]
pub(crate) struct Stop {
    event_loop: Py<PyAny>,
    is_stopped: Rc<Cell<bool>>,
    /// uvloop, which knows no run within a run, would keep a second stop for its next run.
    once: bool,
}

impl Stop {
    /// # Errors
    /// Those of the loop.
    pub(super) fn stop(&self, py: Python<'_>) -> PyResult<()> {
        if self.is_stopped.replace(true) && self.once {
            return Ok(());
        }
        self.event_loop.bind(py).call_method0(intern!(py, "stop")).map(drop)
    }
}

#[pymethods]
impl Stop {
    /// As a future calls it.
    fn __call__(&self, future: &Bound<'_, PyAny>) -> PyResult<()> {
        self.stop(future.py())
    }
}

impl<'py> EventLoop<'py> {
    /// Makes the loop and sets it as that of this thread.
    ///
    /// # Errors
    /// uvloop is asked for and cannot be imported; no more descriptors.
    pub(crate) fn new(py: Python<'py>, choice: LoopChoice) -> Result<Self, StartError> {
        let module = if choice == LoopChoice::Asyncio { None } else { uvloop(py, choice)? };
        module
            .map_or_else(|| Self::asyncio(py), |module| Self::uvloop(&module))
            .and_then(|made| made.set(py))
            .map_err(|error| app::raised(py, "making the event loop", &error))
    }

    /// As Python sees it.
    pub(crate) fn object(&self) -> &Bound<'py, PyAny> {
        &self.object
    }

    /// Takes the turns of `engine` from here on.
    ///
    /// # Errors
    /// The system refuses to watch one more descriptor; `MemoryError`.
    pub(crate) fn connect(&self, engine: &Rc<dyn Engine>) -> PyResult<()> {
        let readable = Bound::new(self.py(), Readable(engine.clone()))?;
        match &self.selector {
            Some(selector) => selector.connect(engine.clone())?,
            None => self.call_when_readable(engine.selector(), &readable, "take_turn")?,
        }
        self.call_when_readable(engine.bell(), &readable, "answer_bell")
    }

    /// Leaves `engine` alone from here on.
    ///
    /// # Errors
    /// The loop is closed.
    pub(crate) fn disconnect(&self, engine: &Rc<dyn Engine>) -> PyResult<()> {
        match &self.selector {
            Some(selector) => selector.disconnect(),
            None => self.forget(engine.selector())?,
        }
        self.forget(engine.bell())
    }

    /// Runs until the loop is stopped and `is_over`. What an application does to end the loop ends nothing but its own task.
    ///
    /// # Errors
    /// Another loop runs in this thread.
    pub(crate) fn run(&self, is_over: impl Fn() -> bool) -> PyResult<()> {
        while !is_over() {
            // A stop that came after the end of a run ends the next.
            let was_stopped = self.is_stopped.take();
            match self.object.call_method0(intern!(self.py(), "run_forever")) {
                Ok(_) if !was_stopped && !self.is_stopped.get() && !is_over() => {
                    log::warn!(
                        "the application has stopped the event loop: it goes on. Leave its end to the server."
                    );
                }
                Ok(_) => {}
                // `sys.exit()` in a task is not the end of the server.
                Err(error) if self.survives(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Runs until `awaitable` is done, and gives its result. What an application does to end the loop ends nothing but its own task.
    ///
    /// # Errors
    /// What it raised; another loop runs in this thread.
    pub(crate) fn complete(&self, awaitable: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = self.py();
        let future = self.object.call_method1(intern!(py, "create_task"), (awaitable,))?;
        future.call_method1(intern!(py, "add_done_callback"), (self.stopper(),))?;
        self.run(|| is_done(&future).unwrap_or(true))?;
        future.call_method0(intern!(py, "result"))
    }

    /// What stops the loop.
    pub(super) fn stopper(&self) -> Stop {
        Stop {
            event_loop: self.object.clone().unbind(),
            is_stopped: self.is_stopped.clone(),
            once: self.selector.is_none(),
        }
    }

    /// Who calls this tells of what `tasks` raise.
    pub(super) fn own(&self, tasks: &[Bound<'py, PyAny>]) {
        self.owned.borrow_mut().extend_from_slice(tasks);
    }

    /// Whether `error` ended a run but not the server; if so, it is told.
    fn survives(&self, error: &PyErr) -> bool {
        let is_owned = || {
            self.owned.borrow().iter().any(|task| failure::has_raised(task, error.value(self.py())))
        };
        failure::ends_loops(self.py(), error) && (is_owned() || failure::survives(self.py(), error))
    }

    /// Cancels the tasks that are left, ends asynchronous generators and the threads of the default executor, by `deadline`, and closes the
    /// loop. What does not end in time is left, with a warning.
    pub(crate) fn end(self, deadline: Instant) {
        ending::end(&self, deadline);
        if let Some(Err(error)) = self.selector.as_ref().map(Selector::restore) {
            log::debug!("the selector's own select could not be put back: {error}");
        }
    }

    pub(super) fn py(&self) -> Python<'py> {
        self.object.py()
    }

    fn asyncio(py: Python<'py>) -> PyResult<Self> {
        let selector = Selector::new(py)?;
        let class = py.import("asyncio")?.getattr("SelectorEventLoop")?;
        Ok(Self::of(class.call1((selector.object(),))?, Some(selector)))
    }

    fn uvloop(module: &Bound<'py, PyModule>) -> PyResult<Self> {
        Ok(Self::of(module.call_method0("new_event_loop")?, None))
    }

    fn of(object: Bound<'py, PyAny>, selector: Option<Selector<'py>>) -> Self {
        EventLoop { object, selector, owned: RefCell::default(), is_stopped: Rc::default() }
    }

    fn set(self, py: Python<'py>) -> PyResult<Self> {
        py.import("asyncio")?.call_method1("set_event_loop", (&self.object,))?;
        Ok(self)
    }

    fn call_when_readable(
        &self,
        descriptor: i32,
        readable: &Bound<'py, Readable>,
        method: &str,
    ) -> PyResult<()> {
        let callback = readable.getattr(method)?;
        self.object.call_method1("add_reader", (descriptor, callback)).map(drop)
    }

    fn forget(&self, descriptor: i32) -> PyResult<()> {
        self.object.call_method1("remove_reader", (descriptor,)).map(drop)
    }
}

fn is_done(future: &Bound<'_, PyAny>) -> PyResult<bool> {
    future.call_method0(intern!(future.py(), "done"))?.is_truthy()
}

/// Whether the loop that is asked for is there.
///
/// # Errors
/// It is not, or cannot be imported.
pub(crate) fn check(py: Python<'_>, choice: LoopChoice) -> Result<(), StartError> {
    if choice == LoopChoice::Uvloop { uvloop(py, choice).map(drop) } else { Ok(()) }
}

/// The module; `None` when it need not be there and is not.
fn uvloop(py: Python<'_>, choice: LoopChoice) -> Result<Option<Bound<'_, PyModule>>, StartError> {
    match (py.import("uvloop"), choice) {
        (Ok(module), _) => Ok(Some(module)),
        (Err(error), LoopChoice::Uvloop) if is_missing(py, &error) => {
            Err(StartError::new(format!(
                "loop is uvloop, which is not installed for {}. Run pip install uvloop, or leave out loop.",
                app::executable(py)
            )))
        }
        (Err(error), LoopChoice::Uvloop) => Err(app::raised(py, "importing uvloop", &error)),
        (Err(error), _) => {
            if !is_missing(py, &error) {
                log::warn!(
                    "uvloop cannot be imported, asyncio is used: {}",
                    app::one_line(py, &error)
                );
            }
            Ok(None)
        }
    }
}

/// Whether there is no module of that name at all.
fn is_missing(py: Python<'_>, error: &PyErr) -> bool {
    let name = error.value(py).getattr("name").and_then(|name| name.extract::<String>());
    error.is_instance_of::<PyImportError>(py) && name.is_ok_and(|name| name == "uvloop")
}
