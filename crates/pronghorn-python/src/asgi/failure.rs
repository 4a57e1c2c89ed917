//! Telling people that an application failed.

use pyo3::prelude::*;

use crate::{app, statsd::EXCEPTION};

/// Writes what the application raised for the request that `label` names to the log, and gives the traceback.
pub(super) fn report(py: Python<'_>, label: &str, error: &PyErr) -> String {
    let text = app::traceback(py, error);
    log::error!(target: EXCEPTION, "{label}: the application failed\n{}", text.trim_end());
    text
}
