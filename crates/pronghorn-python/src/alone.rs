//! One process that serves by itself: without a supervisor, and in `run()`.

use std::sync::Arc;
use std::time::Duration;

use pronghorn_engine::{Control, Witness};
use pyo3::prelude::*;

use crate::app::{Application, StartError};
use crate::identity::Identity;
use crate::listening::{self, Manner};
use crate::pid_file::PidFile;
use crate::serve::{Role, announce, announce_start, serve};
use crate::settings::Settings;
use crate::systemd::{self, Notifier};

/// Serves what `load` gives in this process, until it is told to drain.
///
/// # Errors
/// What keeps it from starting.
pub(crate) fn serve_alone(
    py: Python<'_>,
    settings: &Settings,
    identity: &Identity,
    manner: &Manner,
    load: impl FnOnce() -> Result<Application, StartError>,
) -> Result<(), StartError> {
    let listeners = listening::open_all(settings, manner, &systemd::inherited(py))?;
    let pid_file = settings.pid.as_deref().map(PidFile::create).transpose()?;
    let notifier = Arc::new(Notifier::from_environment(py));
    let mut alone = Alone { identity, notifier };
    let served = serve(py, settings, load, listeners, &mut alone);
    drop(pid_file);
    served
}

/// Nobody watches over the process; signals tell it what to do.
struct Alone<'a> {
    identity: &'a Identity,
    notifier: Arc<Notifier>,
}

impl Role for Alone<'_> {
    fn settle(&self, py: Python<'_>) -> Result<(), StartError> {
        self.identity.take(py)
    }

    fn control(&mut self) -> Control {
        Control::Signals
    }

    fn is_first(&self) -> bool {
        true
    }

    fn drain_delay(&self, settings: &Settings) -> Duration {
        settings.drain_delay
    }

    fn witness(&self) -> Option<Arc<dyn Witness>> {
        Some(self.notifier.clone())
    }

    fn ready(&self, listeners: &[String]) {
        announce_start();
        announce(listeners);
        self.notifier.ready(&format!("serving at {}", listeners.join(", ")));
    }
}
