//! Importing the application, and explaining why it could not be.

mod check;
mod double;
mod explain;
mod factory;
mod interface;
mod nearby;
mod signature;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;

use crate::settings::{self, AppSpec, InterfaceChoice};

pub use check::recognize;
pub(crate) use explain::{executable, one_line, raised, traceback};

/// Why the server did not start: one message for the person who started it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartError {
    message: String,
    traceback: Option<String>,
}

impl StartError {
    /// An error that tells `message`: what happened, why, and what to do.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), traceback: None }
    }

    /// The same with the application's traceback below.
    pub(crate) fn with_traceback(message: String, traceback: String) -> Self {
        Self { message, traceback: Some(traceback) }
    }
}

impl fmt::Display for StartError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        match &self.traceback {
            Some(traceback) => write!(f, "\n\n{}", traceback.trim_end()),
            None => Ok(()),
        }
    }
}

impl std::error::Error for StartError {}

/// What is served.
pub struct Application {
    /// What is called: with environ and `start_response`, or with scope, receive and send.
    pub callable: Py<PyAny>,
    /// Which of these.
    pub interface: Interface,
}

/// How an application is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interface {
    /// PEP 3333.
    Wsgi,
    /// ASGI 3: a call gives something to await.
    Asgi,
}

impl Interface {
    /// Its word among those of the setting.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wsgi => "wsgi",
            Self::Asgi => "asgi",
        }
    }
}

/// Imports the application that `spec` names, with `app_dir` first on the import path, and finds out its interface.
///
/// # Errors
/// Every way this can fail: no such module, a failure while it is imported, no such attribute, a factory that
/// raises, an object that is no application, or one of another interface than `choice`.
pub fn load(
    py: Python<'_>,
    spec: &AppSpec,
    app_dir: &Path,
    choice: InterfaceChoice,
) -> Result<Application, StartError> {
    let app_dir = absolute(app_dir)?;
    put_first_on_path(py, &app_dir)
        .map_err(|error| explain::raised(py, "setting the import path", &error))?;
    let module =
        py.import(&*spec.module).map_err(|error| explain::import(py, spec, &app_dir, &error))?;
    check_origin(&module, spec, &app_dir)?;
    let found = find(&module, spec)?;
    let application = if spec.factory { factory::call(&found)? } else { found.object };
    recognize(application, &found.name, choice)
}

/// An attribute and the name it was found by: `wiki:app`.
struct Found<'py> {
    object: Bound<'py, PyAny>,
    name: String,
}

fn absolute(app_dir: &Path) -> Result<PathBuf, StartError> {
    let failed = |error: io::Error| {
        let reason = settings::reason(&error);
        StartError::new(format!(
            "cannot import from {}. {reason} Check app-dir.",
            app_dir.display()
        ))
    };
    let path = app_dir.canonicalize().map_err(failed)?;
    if path.is_dir() { Ok(path) } else { Err(failed(io::ErrorKind::NotADirectory.into())) }
}

fn put_first_on_path(py: Python<'_>, app_dir: &Path) -> PyResult<()> {
    let path = py.import("sys")?.getattr("path")?;
    path.call_method1("insert", (0, app_dir.as_os_str()))?;
    Ok(())
}

/// A module of the same name may have been imported before, from Python itself: `site`, `test`, `time`.
fn check_origin(
    module: &Bound<'_, PyModule>,
    spec: &AppSpec,
    app_dir: &Path,
) -> Result<(), StartError> {
    let top = spec.module.split('.').next().unwrap_or(&spec.module);
    let candidates = [app_dir.join(top).join("__init__.py"), app_dir.join(format!("{top}.py"))];
    let Some(own) = candidates.into_iter().find_map(|path| path.canonicalize().ok()) else {
        return Ok(());
    };
    match explain::file_of(module.py(), top) {
        Some(imported) if imported == own => Ok(()),
        imported => Err(explain::shadowed(top, &own, imported.as_deref())),
    }
}

/// The attribute that `spec` names or, when it names none, `application` or else `app`.
fn find<'py>(module: &Bound<'py, PyModule>, spec: &AppSpec) -> Result<Found<'py>, StartError> {
    let Some(path) = &spec.attribute else {
        return find_default(module, spec);
    };
    let mut found = Found { object: module.clone().into_any(), name: spec.module.clone() };
    let mut separator = ':';
    for part in path.split('.') {
        let object = attribute(&found.object, part, &found.name)?
            .ok_or_else(|| explain::no_attribute(&found.object, &found.name, spec, part))?;
        found = Found { object, name: format!("{}{separator}{part}", found.name) };
        separator = '.';
    }
    Ok(found)
}

fn find_default<'py>(
    module: &Bound<'py, PyModule>,
    spec: &AppSpec,
) -> Result<Found<'py>, StartError> {
    for name in ["application", "app"] {
        if let Some(object) = attribute(module, name, &spec.module)? {
            return Ok(Found { object, name: format!("{}:{name}", spec.module) });
        }
    }
    Err(explain::no_default(module, spec))
}

/// The attribute of an object that people know as `owner`. It may be computed, which may raise anything.
fn attribute<'py>(
    object: &Bound<'py, PyAny>,
    name: &str,
    owner: &str,
) -> Result<Option<Bound<'py, PyAny>>, StartError> {
    match object.getattr(name) {
        Ok(value) => Ok(Some(value)),
        Err(error) if error.is_instance_of::<PyAttributeError>(object.py()) => Ok(None),
        Err(error) => {
            let doing = format!("reading {name} of {owner}");
            Err(explain::raised(object.py(), &doing, &error))
        }
    }
}
