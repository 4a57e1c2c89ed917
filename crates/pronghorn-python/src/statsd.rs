//! From settings to a StatsD server that is told of this process.

use std::sync::{Arc, Mutex, PoisonError};

use log::Level;
use pronghorn_engine::{Statsd, StatsdSettings};

use crate::app::StartError;
use crate::settings::{Settings, reason};

/// What a message of the log is marked with that tells of an exception of the application.
pub(crate) const EXCEPTION: &str = "exception";

/// What the settings say of StatsD; `None` if it is not wanted.
pub(crate) fn wanted(settings: &Settings) -> Option<StatsdSettings> {
    Some(StatsdSettings {
        address: settings.statsd_host.clone()?,
        prefix: settings.statsd_prefix.clone(),
        tags: settings.dogstatsd_tags.clone(),
    })
}

/// The StatsD server, if one is wanted, for the process that calls this. It is told of the log's messages too.
///
/// # Errors
/// Its name is unknown.
pub(crate) fn start(settings: &Settings) -> Result<Option<Arc<Statsd>>, StartError> {
    let Some(wanted) = wanted(settings) else { return Ok(None) };
    let statsd = Statsd::start(&wanted).map(Arc::new).map_err(|error| {
        StartError::new(format!("cannot tell StatsD. {} Check statsd-host.", reason(&error)))
    })?;
    *TOLD.lock().unwrap_or_else(PoisonError::into_inner) = Some(statsd.clone());
    Ok(Some(statsd))
}

/// Says how many workers serve, if anyone wants to know.
pub(crate) fn tell_workers(settings: &Settings, count: usize) {
    let Some(wanted) = wanted(settings) else { return };
    if let Err(error) = pronghorn_engine::tell_workers(&wanted, count) {
        log::debug!("StatsD could not be told of {count} workers: {error}");
    }
}

/// Counts a message of the log.
pub(crate) fn note_message(level: Level, target: &str) {
    if level > Level::Warn {
        return;
    }
    if let Some(statsd) = &*TOLD.lock().unwrap_or_else(PoisonError::into_inner) {
        statsd.note_message(level, target == EXCEPTION);
    }
}

static TOLD: Mutex<Option<Arc<Statsd>>> = Mutex::new(None);
