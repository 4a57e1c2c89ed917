//! The drain as an ASGI application sees it: streams are told in time, and tasks that outlive their response are waited for.

use std::{
    rc::{Rc, Weak},
    time::{Duration, Instant},
};

use pyo3::{intern, prelude::*};

use super::host::Host;

/// What is done when the server drains.
pub(super) struct Drain {
    /// How long it may take.
    pub(super) graceful: Duration,
    /// Streams are told when half of that has passed: what ends by itself until then is not cut.
    pub(super) tells_streams: bool,
    /// Told at once.
    pub(super) announcement: Option<Announcement>,
}

/// Tells the application of the shutdown.
pub(super) type Announcement = Box<dyn FnOnce(Python<'_>)>;

impl Drain {
    /// Begins it; gives when it has to be over.
    ///
    /// # Errors
    /// The loop is closed.
    pub(super) fn begin(self, host: &Rc<Host>, event_loop: &Bound<'_, PyAny>) -> PyResult<Instant> {
        let py = event_loop.py();
        if let Some(announce) = self.announcement {
            announce(py);
        }
        if self.tells_streams {
            call_later(event_loop, self.graceful / 2, host, What::TellStreams)?;
        }
        call_later(event_loop, self.graceful, host, What::GiveUp)?;
        Ok(Instant::now() + self.graceful)
    }
}

fn call_later(
    event_loop: &Bound<'_, PyAny>,
    delay: Duration,
    host: &Rc<Host>,
    what: What,
) -> PyResult<()> {
    let py = event_loop.py();
    let alarm = Bound::new(py, Alarm { host: Rc::downgrade(host), what })?;
    event_loop.call_method1(intern!(py, "call_later"), (delay.as_secs_f64(), alarm)).map(drop)
}

#[derive(Clone, Copy)]
enum What {
    TellStreams,
    GiveUp,
}

/// What the loop calls in time.
#[pyclass(unsendable)]
struct Alarm {
    host: Weak<Host>,
    what: What,
}

#[pymethods]
impl Alarm {
    fn __call__(&self, py: Python<'_>) {
        let Some(host) = self.host.upgrade() else { return };
        match self.what {
            What::TellStreams => host.tell_streams(py),
            What::GiveUp => host.give_up(py),
        }
    }
}
