//! The files of what Python has imported.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;

/// How many modules are imported: as long as it is the same there is nothing new.
pub(super) fn count(py: Python<'_>) -> usize {
    modules(py).map_or(0, |modules| modules.len())
}

/// The files of all imported modules that have one. Runs no code of theirs.
pub(super) fn files(py: Python<'_>) -> Vec<PathBuf> {
    let Ok(modules) = modules(py) else { return Vec::new() };
    modules.values().iter().filter_map(|module| file_of(&module)).collect()
}

/// The folders that modules are imported from, but for those of Python itself and what is installed.
pub(super) fn import_path(py: Python<'_>) -> Vec<PathBuf> {
    let read = || -> PyResult<(Vec<PathBuf>, PathBuf, PathBuf)> {
        let sys = py.import("sys")?;
        let path = sys.getattr("path")?.try_iter()?;
        let path = path.filter_map(|entry| entry.ok()?.extract().ok()).collect();
        let prefix = sys.getattr("prefix")?.extract()?;
        Ok((path, prefix, sys.getattr("base_prefix")?.extract()?))
    };
    let Ok((path, prefix, base)) = read() else { return Vec::new() };
    path.into_iter()
        .filter(|folder| {
            folder.is_dir() && !folder.starts_with(&prefix) && !folder.starts_with(&base)
        })
        .collect()
}

fn modules(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    Ok(py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?)
}

fn file_of(module: &Bound<'_, PyAny>) -> Option<PathBuf> {
    let module = module.cast::<PyModule>().ok()?;
    let file = module.dict().get_item("__file__").ok()??;
    file.extract::<PathBuf>().ok().filter(|file| file.is_absolute())
}
