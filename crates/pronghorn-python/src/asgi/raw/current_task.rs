//! Which task asyncio takes as the running one.

use pyo3::{intern, prelude::*};

/// Says which task runs, for steps that a task does not take itself: what asyncio has for loops of other makes.
pub(super) struct CurrentTask {
    event_loop: Py<PyAny>,
    /// `asyncio.tasks._swap_current_task`, which CPython has since 3.12.
    swap: Option<Py<PyAny>>,
    enter: Py<PyAny>,
    leave: Py<PyAny>,
}

impl CurrentTask {
    /// # Errors
    /// asyncio lacks what it documents.
    pub(super) fn new(event_loop: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = event_loop.py();
        let tasks = py.import("asyncio.tasks")?;
        Ok(CurrentTask {
            event_loop: event_loop.clone().unbind(),
            swap: tasks.getattr_opt(intern!(py, "_swap_current_task"))?.map(Bound::unbind),
            enter: tasks.getattr(intern!(py, "_enter_task"))?.unbind(),
            leave: tasks.getattr(intern!(py, "_leave_task"))?.unbind(),
        })
    }

    /// What `f` gives, for which `task` is the running task.
    ///
    /// # Errors
    /// Another task is running.
    pub(super) fn during<R>(&self, task: &Bound<'_, PyAny>, f: impl FnOnce() -> R) -> PyResult<R> {
        let py = task.py();
        let event_loop = self.event_loop.bind(py);
        let (first, last) = match &self.swap {
            Some(swap) => (swap, swap),
            None => (&self.enter, &self.leave),
        };
        let before = first.bind(py).call1((event_loop, task))?;
        let result = f();
        let last = last.bind(py);
        let left = match self.swap.is_some() {
            true => last.call1((event_loop, before)),
            false => last.call1((event_loop, task)),
        };
        if let Err(error) = left {
            error.write_unraisable(py, Some(task));
        }
        Ok(result)
    }
}
