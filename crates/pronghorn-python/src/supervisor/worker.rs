//! A worker: what the child does after the fork.

use std::io;
use std::os::fd::AsFd as _;

use pronghorn_engine::{Control, Listener, Replacement};
use pyo3::prelude::*;

use super::channel::{Message, WorkerEnd};
use crate::app::StartError;
use crate::configuration::Configuration;
use crate::identity::Identity;
use crate::reload;
use crate::serve::{Role, serve};

/// What a worker is given.
pub(crate) struct Assignment {
    pub(super) end: WorkerEnd,
    pub(super) listeners: Vec<Listener>,
    pub(super) configuration: Configuration,
    /// The application, if it was imported before the fork.
    pub(super) application: Option<Py<PyAny>>,
    pub(super) max_requests: Option<u64>,
    /// Whether another one serves in its place as long as it does not.
    pub(super) replaces: bool,
}

/// The exit code of a worker that could not start, as gunicorn's.
const NOT_STARTED: i32 = 3;

/// Serves until told to end; gives the exit code.
pub(crate) fn work(py: Python<'_>, assignment: Assignment) -> i32 {
    let Assignment { end, listeners, configuration, application, max_requests, replaces } =
        assignment;
    let load = || match application {
        Some(application) => Ok(application.into_bound(py)),
        None => configuration.load(py),
    };
    let served = Supervised::new(&end, &configuration, max_requests)
        .and_then(|mut role| serve(py, &configuration.settings, load, listeners, &mut role));
    match served {
        Ok(()) => 0,
        Err(error) => {
            end.say(&Message::Failed(error.to_string()));
            if configuration.settings.reload && !replaces {
                // To try again before anything is changed would be in vain.
                reload::wait_for_change(py, &configuration.settings, end.as_fd());
            }
            NOT_STARTED
        }
    }
}

/// A worker as the server sees it.
struct Supervised<'a> {
    identity: &'a Identity,
    siblings: bool,
    max_requests: Option<u64>,
    ready: WorkerEnd,
    asking: WorkerEnd,
    orders: Option<std::os::fd::OwnedFd>,
}

impl<'a> Supervised<'a> {
    fn new(
        end: &WorkerEnd,
        configuration: &'a Configuration,
        max_requests: Option<u64>,
    ) -> Result<Self, StartError> {
        let share = || end.try_clone().map_err(|error| cannot_hear(&error));
        Ok(Supervised {
            identity: &configuration.identity,
            siblings: configuration.settings.workers > 1,
            max_requests,
            ready: share()?,
            asking: share()?,
            orders: Some(share()?.into()),
        })
    }
}

impl Role for Supervised<'_> {
    fn has_siblings(&self) -> bool {
        self.siblings
    }

    fn settle(&self, py: Python<'_>) -> Result<(), StartError> {
        self.identity.take(py)
    }

    fn control(&mut self) -> Control {
        self.orders.take().map_or(Control::Nobody, Control::Supervisor)
    }

    fn replacement(&self) -> Option<Replacement> {
        let end = self.asking.try_clone().ok()?;
        Some(Replacement::new(move |reason| end.say(&Message::Asks(reason))))
    }

    fn max_requests(&self) -> Option<u64> {
        self.max_requests
    }

    fn ready(&self, _listeners: &[String]) {
        self.ready.say(&Message::Ready);
    }
}

fn cannot_hear(error: &io::Error) -> StartError {
    StartError::new(format!("a worker cannot talk to its supervisor. {error}."))
}
