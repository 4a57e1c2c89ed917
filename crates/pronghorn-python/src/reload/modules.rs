//! The files of what Python has imported.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::watched::Modules;

/// The modules of this process, as far as they were asked for.
#[derive(Debug, Default)]
pub(super) struct Imported {
    /// How many there were: as long as it is the same there is nothing new.
    count: usize,
}

impl Modules for Imported {
    /// Runs no code of the modules.
    fn files(&mut self) -> Option<Vec<PathBuf>> {
        Python::attach(|py| {
            let modules = modules(py).ok()?;
            if std::mem::replace(&mut self.count, modules.len()) == modules.len() {
                return None;
            }
            Some(modules.values().iter().filter_map(|module| file_of(&module)).collect())
        })
    }

    fn compiled(&self, file: &Path) -> Option<PathBuf> {
        let read = |py: Python<'_>| -> PyResult<Option<PathBuf>> {
            if py.import("sys")?.getattr("dont_write_bytecode")?.extract()? {
                return Ok(None);
            }
            let path = py.import("importlib.util")?.call_method1("cache_from_source", (file,))?;
            path.extract().map(Some)
        };
        Python::attach(read).ok()?
    }
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
