//! What the server tells of itself, from settings to engine: metrics and health.

use std::fmt::Display;
use std::sync::Arc;

use pronghorn_engine::{Board, Config, Early, Listener, Metrics};

use crate::app::StartError;
use crate::serve::{Role, cannot_start};
use crate::settings::{MetricsPlace, Settings};

/// `config` with what the settings say of metrics and health.
///
/// # Errors
/// There is no memory for the metrics.
pub(crate) fn monitored(
    mut config: Config,
    settings: &Settings,
    role: &dyn Role,
) -> Result<Config, StartError> {
    config.health = settings.health.clone();
    if let Some(MetricsPlace::Path(path)) = &settings.metrics {
        config.metrics_path = Some(path.clone());
    }
    if settings.metrics.is_some() {
        config.metrics =
            role.metrics().map_or_else(|| alone().map(Some), |metrics| Ok(Some(metrics)))?;
    }
    config.deadlines.drain_delay = role.drain_delay(settings);
    Ok(config)
}

/// Answers to questions for the server itself while the application is imported, where such are answered.
///
/// # Errors
/// There are no descriptors or threads left.
pub(crate) fn early(
    config: &Config,
    listeners: &[Listener],
    role: &dyn Role,
) -> Result<Option<Early>, StartError> {
    let wanted = config.health.is_some() || config.metrics.is_some();
    if !wanted || !role.is_first() {
        return Ok(None);
    }
    Early::start(config, listeners).map(Some).map_err(|error| cannot_start(&error))
}

/// Metrics of a process that shares them with nobody.
fn alone() -> Result<Arc<Metrics>, StartError> {
    let board = Board::new(1).map_err(|error| no_memory(&error))?;
    let index = board.claim(std::process::id()).ok_or_else(|| no_memory(&"All is taken"))?;
    Ok(board.block(index))
}

pub(crate) fn no_memory(reason: &dyn Display) -> StartError {
    StartError::new(format!("there is no memory for the metrics. {reason}. Leave out metrics."))
}
