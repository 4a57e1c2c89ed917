//! The environment, through `os.environ`, so that Python and C see the same.

use pyo3::prelude::*;

use crate::app::StartError;

/// Sets variables.
///
/// # Errors
/// Python refuses one.
pub(crate) fn add(py: Python<'_>, variables: &[(String, String)]) -> Result<(), StartError> {
    if variables.is_empty() {
        return Ok(());
    }
    let set = environ(py).and_then(|environ| {
        variables.iter().try_for_each(|(name, value)| environ.set_item(name, value))
    });
    set.map_err(|error| {
        StartError::new(format!("cannot set the environment. {error}. Check env-file."))
    })
}

/// Takes a variable out.
pub(crate) fn take(py: Python<'_>, name: &str) -> Option<String> {
    environ(py).ok()?.call_method1("pop", (name, py.None())).ok()?.extract().ok()
}

fn environ(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    py.import("os")?.getattr("environ")
}
