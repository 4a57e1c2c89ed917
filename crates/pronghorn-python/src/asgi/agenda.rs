//! What asyncio's loop has to do before it waits again.

use pyo3::{
    Bound, PyResult, Python, intern,
    prelude::*,
    types::{PyDict, PyList},
};

/// Knows whether a round of asyncio's loop would find anything, from the attributes that `asyncio.base_events` keeps it in.
pub(super) struct Agenda(Py<PyDict>);

/// The timers that there are: who asks again sees whether there are others. A count is enough, as they only get more while the loop is in its
/// `select`: only a round takes some out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Timers(usize);

impl Agenda {
    /// `None` for a loop that does not keep it there.
    pub(super) fn of(event_loop: &Bound<'_, PyAny>) -> Option<Self> {
        let attributes = event_loop.getattr("__dict__").ok()?.cast_into::<PyDict>().ok()?;
        let agenda = Agenda(attributes.unbind());
        agenda.read(event_loop.py()).ok().flatten().map(|_| agenda)
    }

    /// `None` if the loop has something to do, or nobody knows.
    pub(super) fn timers_alone(&self, py: Python<'_>) -> Option<Timers> {
        let (timers, is_idle) = self.read(py).ok().flatten()?;
        is_idle.then_some(timers)
    }

    /// `None` if something is not as it is known to be.
    fn read(&self, py: Python<'_>) -> PyResult<Option<(Timers, bool)>> {
        let attributes = self.0.bind(py);
        let ready = attributes.get_item(intern!(py, "_ready"))?;
        let scheduled = attributes.get_item(intern!(py, "_scheduled"))?;
        let stopping = attributes.get_item(intern!(py, "_stopping"))?;
        let (Some(ready), Some(scheduled), Some(stopping)) = (ready, scheduled, stopping) else {
            return Ok(None);
        };
        let Ok(scheduled) = scheduled.cast_into::<PyList>() else { return Ok(None) };
        let is_idle = ready.len()? == 0 && !stopping.is_truthy()?;
        Ok(Some((Timers(scheduled.len()), is_idle)))
    }
}
