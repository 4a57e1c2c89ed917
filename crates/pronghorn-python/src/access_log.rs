//! From settings to an access log that is open.

use std::io;
use std::sync::Arc;

use pronghorn_engine::{AccessLog, LogTarget};

use crate::app::StartError;
use crate::listening::reason_of_creating;
use crate::settings::Settings;

/// The access log, if one is wanted, for the process that calls this.
///
/// # Errors
/// It cannot be opened.
pub(crate) fn open(settings: &Settings) -> Result<Option<Arc<AccessLog>>, StartError> {
    let Some(target) = &settings.access_log else { return Ok(None) };
    AccessLog::open(target.clone(), settings.access_log_format.clone())
        .map(|log| Some(Arc::new(log)))
        .map_err(|error| cannot_open(target, &error))
}

/// Finds out whether it can be opened.
///
/// # Errors
/// It cannot.
pub(crate) fn check(settings: &Settings) -> Result<(), StartError> {
    let target = settings.access_log.as_ref();
    target.map_or(Ok(()), |target| target.check().map_err(|error| cannot_open(target, &error)))
}

fn cannot_open(target: &LogTarget, error: &io::Error) -> StartError {
    StartError::new(format!(
        "cannot open the access log {target}. {} Check access-log.",
        reason_of_creating(error)
    ))
}
