//! A worker: what the child does after the fork.

use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;

use pronghorn_engine::{Control, Listener, Metrics, Replacement};
use pyo3::prelude::*;

use super::channel::{Message, WorkerEnd};
use crate::app::{Application, StartError};
use crate::configuration::Configuration;
use crate::reload;
use crate::serve::{Role, serve};

/// What a worker is given.
pub(crate) struct Assignment {
    pub(super) end: WorkerEnd,
    pub(super) listeners: Vec<Listener>,
    pub(super) configuration: Configuration,
    /// The application, if it was imported before the fork.
    pub(super) application: Option<Application>,
    pub(super) max_requests: Option<u64>,
    /// Whether another one serves in its place as long as it does not.
    pub(super) replaces: bool,
    /// Where it counts.
    pub(super) metrics: Option<Arc<Metrics>>,
    /// Nobody has served yet.
    pub(super) is_first: bool,
}

/// The exit code of a worker that could not start, as gunicorn's.
const NOT_STARTED: i32 = 3;

/// Serves until told to end; gives the exit code.
pub(crate) fn work(py: Python<'_>, mut assignment: Assignment) -> i32 {
    let application = assignment.application.take();
    let listeners = std::mem::take(&mut assignment.listeners);
    let configuration = &assignment.configuration;
    let load = || match application {
        Some(application) => Ok(application),
        None => configuration.load(py),
    };
    let served = Supervised::new(&assignment)
        .and_then(|mut role| serve(py, &configuration.settings, load, listeners, &mut role));
    match served {
        Ok(()) => 0,
        Err(error) => {
            assignment.end.say(&Message::Failed(error.to_string()));
            if configuration.settings.reload && !assignment.replaces {
                // To try again before anything is changed would be in vain.
                reload::wait_for_change(py, &configuration.settings, assignment.end.as_fd());
            }
            NOT_STARTED
        }
    }
}

/// A worker as the server sees it.
struct Supervised<'a> {
    assignment: &'a Assignment,
    /// The channel once more, for the engine.
    asking: Option<WorkerEnd>,
    orders: Option<OwnedFd>,
}

impl<'a> Supervised<'a> {
    fn new(assignment: &'a Assignment) -> Result<Self, StartError> {
        let share = || {
            assignment.end.try_clone().map_err(|error| {
                StartError::new(format!("a worker cannot talk to its supervisor. {error}."))
            })
        };
        Ok(Supervised { assignment, asking: Some(share()?), orders: Some(share()?.into()) })
    }
}

impl Role for Supervised<'_> {
    fn is_supervised(&self) -> bool {
        true
    }

    fn settle(&self, py: Python<'_>) -> Result<(), StartError> {
        self.assignment.configuration.identity.take(py)
    }

    fn control(&mut self) -> Control {
        self.orders.take().map_or(Control::Nobody, Control::Supervisor)
    }

    fn replacement(&mut self) -> Option<Replacement> {
        let end = self.asking.take()?;
        Some(Replacement::new(move |reason| end.say(&Message::Asks(reason))))
    }

    fn max_requests(&self) -> Option<u64> {
        self.assignment.max_requests
    }

    fn metrics(&self) -> Option<Arc<Metrics>> {
        self.assignment.metrics.clone()
    }

    fn is_first(&self) -> bool {
        self.assignment.is_first
    }

    fn ready(&self, _listeners: &[String]) {
        self.assignment.end.say(&Message::Ready);
    }
}
