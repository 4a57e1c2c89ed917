//! Starting the coroutine of a request as a task whose first step is taken at once.
//!
//! asyncio does so since Python 3.12. Before, a new task puts its first step into the loop by `call_soon`. There the step is taken out
//! of the loop's hands: for as long as the task is made, the loop has a `call_soon` of its own, which keeps the step, and gives whatever
//! else comes to the real one. The step is then run here, in the task's context, as the loop would have.

use std::sync::{Mutex, MutexGuard, PoisonError};

use pyo3::{
    intern,
    prelude::*,
    types::{PyDict, PyTuple},
};

use super::raw::When;

/// Makes the tasks of one event loop.
pub(crate) struct Tasks {
    event_loop: Py<PyAny>,
    class: Py<PyAny>,
    /// What the class is called with beside the coroutine; it only reads them.
    keywords: Py<PyDict>,
    /// `asyncio.current_task`, with a loop that may be run within its own run.
    current_task: Option<Py<PyAny>>,
    /// Where asyncio does not take first steps itself.
    interception: Option<Interception>,
}

impl Tasks {
    /// Prepares for the tasks of `event_loop`.
    ///
    /// # Errors
    /// `MemoryError`; asyncio cannot be imported.
    pub(crate) fn new(event_loop: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = event_loop.py();
        let asyncio = py.import("asyncio")?;
        let class = asyncio.getattr("Task")?;
        let keywords = PyDict::new(py);
        keywords.set_item("loop", event_loop)?;
        let is_eager = py.version_info() >= (3, 12);
        if is_eager {
            keywords.set_item("eager_start", true)?;
        }
        let interception = if is_eager { None } else { Interception::new(event_loop, &class)? };
        // uvloop refuses to be.
        let may_nest = event_loop.is_instance(&asyncio.getattr("BaseEventLoop")?)?;
        let current_task = may_nest.then(|| asyncio.getattr("current_task")).transpose()?;
        Ok(Tasks {
            event_loop: event_loop.clone().unbind(),
            current_task: current_task.map(Bound::unbind),
            class: class.unbind(),
            keywords: keywords.unbind(),
            interception,
        })
    }

    /// When tasks may go on or begin: within the step of another, which has run the loop on, none may at once.
    #[inline]
    pub(crate) fn when(&self, py: Python<'_>) -> When {
        let Some(current_task) = &self.current_task else { return When::Now };
        let current = current_task.bind(py).call1((&self.event_loop,));
        if current.is_ok_and(|task| task.is_none()) { When::Now } else { When::Soon }
    }

    /// A task that runs `coroutine` in a context of its own, and has taken the first step if `when` allows that, or Python does so whatever
    /// runs. The loop must run.
    ///
    /// # Errors
    /// `MemoryError`; those of the loop.
    #[inline]
    pub(crate) fn start<'py>(
        &self,
        coroutine: Bound<'py, PyAny>,
        when: When,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = coroutine.py();
        let interception = self.interception.as_ref().filter(|_| when == When::Now);
        match interception {
            None => self.make(&coroutine),
            Some(interception) => interception.start(py, || self.make(&coroutine)),
        }
    }

    fn make<'py>(&self, coroutine: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = coroutine.py();
        self.class.bind(py).call((coroutine,), Some(self.keywords.bind(py)))
    }
}

/// Taking the first step of a task out of the loop's hands.
struct Interception {
    /// The attributes of the loop itself, which go before those of its class.
    attributes: Py<PyDict>,
    kept: Py<Interceptor>,
    /// The interceptor's `call_soon`.
    call_soon: Py<PyAny>,
}

impl Interception {
    /// `None` for a loop that can have no attributes.
    fn new(event_loop: &Bound<'_, PyAny>, task: &Bound<'_, PyAny>) -> PyResult<Option<Self>> {
        let py = event_loop.py();
        let attributes = event_loop.getattr_opt("__dict__")?;
        let Some(attributes) = attributes.and_then(|found| found.cast_into::<PyDict>().ok()) else {
            return Ok(None);
        };
        let interceptor = Interceptor {
            attributes: attributes.clone().unbind(),
            task: task.clone().unbind(),
            real: event_loop.getattr("call_soon")?.unbind(),
            steps: Mutex::new(Vec::new()),
        };
        let interceptor = Bound::new(py, interceptor)?;
        Ok(Some(Interception {
            attributes: attributes.unbind(),
            call_soon: interceptor.getattr("call_soon")?.unbind(),
            kept: interceptor.unbind(),
        }))
    }

    /// Makes a task by `make` and takes its first step.
    #[inline]
    fn start<'py>(
        &self,
        py: Python<'py>,
        make: impl FnOnce() -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let attributes = self.attributes.bind(py);
        if attributes.contains(intern!(py, "call_soon"))? {
            // The application has put its own there.
            return make();
        }
        attributes.set_item(intern!(py, "call_soon"), &self.call_soon)?;
        let task = make();
        let interceptor = self.kept.get();
        interceptor.remove(py)?;
        let first = interceptor.take_first(py, task.as_ref().ok())?;
        if let Some(step) = first {
            // What comes out of it, SystemExit or KeyboardInterrupt, the task has noted too.
            let _ = step.context.bind(py).call_method1(intern!(py, "run"), (step.call,));
        }
        task
    }
}

/// What stands in the place of `call_soon` while a task is made.
///
/// A garbage collection, or a handler of a signal, may run any code in that time. What such code gives to `call_soon` goes to the real one.
#[pyclass(frozen)]
struct Interceptor {
    attributes: Py<PyDict>,
    /// The class of tasks.
    task: Py<PyAny>,
    /// The loop's own `call_soon`.
    real: Py<PyAny>,
    steps: Mutex<Vec<Step>>,
}

/// A step of a task as the loop would take it.
struct Step {
    task: Py<PyAny>,
    call: Py<PyAny>,
    context: Py<PyAny>,
}

#[pymethods]
impl Interceptor {
    #[pyo3(signature = (callback, *args, context=None))]
    fn call_soon<'py>(
        &self,
        callback: Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        context: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = callback.py();
        if let (true, Some(context)) = (args.is_empty(), &context)
            && let Some(task) = self.task_of(&callback)?
        {
            let (call, context) = (callback.unbind(), context.clone().unbind());
            self.steps().push(Step { task: task.unbind(), call, context });
            self.remove(py)?;
            return Ok(py.None().into_bound(py));
        }
        let arguments: Vec<_> = std::iter::once(callback).chain(args.iter()).collect();
        self.call_really(py, PyTuple::new(py, arguments)?, context.as_ref())
    }
}

impl Interceptor {
    /// The task that `callback` is a step of.
    fn task_of<'py>(&self, callback: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = callback.py();
        let owner = callback.getattr_opt(intern!(py, "__self__"))?;
        match owner {
            Some(owner) if owner.is_instance(self.task.bind(py))? => Ok(Some(owner)),
            _ => Ok(None),
        }
    }

    /// Gives the loop its own `call_soon` back.
    fn remove(&self, py: Python<'_>) -> PyResult<()> {
        let attributes = self.attributes.bind(py);
        match attributes.contains(intern!(py, "call_soon"))? {
            true => attributes.del_item(intern!(py, "call_soon")),
            false => Ok(()),
        }
    }

    /// The step of `task`. Steps of others are what a garbage collection has started: they go to the loop.
    fn take_first(
        &self,
        py: Python<'_>,
        task: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Option<Step>> {
        let mut first = None;
        while let Some(step) = self.pop() {
            if task.is_some_and(|task| step.task.is(task)) {
                first = Some(step);
            } else {
                let arguments = PyTuple::new(py, [step.call])?;
                self.call_really(py, arguments, Some(step.context.bind(py)))?;
            }
        }
        Ok(first)
    }

    fn pop(&self) -> Option<Step> {
        self.steps().pop()
    }

    fn call_really<'py>(
        &self,
        py: Python<'py>,
        arguments: Bound<'py, PyTuple>,
        context: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let keywords = PyDict::new(py);
        if let Some(context) = context {
            keywords.set_item("context", context)?;
        }
        self.real.bind(py).call(arguments, Some(&keywords))
    }

    fn steps(&self) -> MutexGuard<'_, Vec<Step>> {
        self.steps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
