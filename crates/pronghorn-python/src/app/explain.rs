//! What to tell a person whose application could not be imported.

use std::fs;
use std::path::{Path, PathBuf};

use pyo3::exceptions::{PyModuleNotFoundError, PySyntaxError, PySystemExit};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyType};

use super::interface::{Role, role_of};
use super::{StartError, nearby};
use crate::settings::{AppSpec, nearest};

/// Why importing the module of `spec` failed.
pub(super) fn import(py: Python<'_>, spec: &AppSpec, app_dir: &Path, error: &PyErr) -> StartError {
    if is_missing_itself(py, &spec.module, error) {
        return no_module(py, spec, app_dir);
    }
    let module = &spec.module;
    let hint = match error {
        _ if error.is_instance_of::<PyModuleNotFoundError>(py) => {
            format!("Install it for {}, or correct the import.", executable(py))
        }
        _ if error.is_instance_of::<PySyntaxError>(py) => "Correct the line shown below.".to_owned(),
        _ if error.is_instance_of::<PySystemExit>(py) => {
            "The application ends the process while it is imported. Move that below `if __name__ == \"__main__\":`."
                .to_owned()
        }
        _ => "The traceback shows where.".to_owned(),
    };
    let message =
        format!("the application {module} could not be imported. {}. {hint}", one_line(py, error));
    StartError::with_traceback(message, traceback(py, error))
}

/// The module `name` of the application, in the file `own`, cannot be reached: another has its name.
pub(super) fn shadowed(name: &str, own: &Path, imported: Option<&Path>) -> StartError {
    let other = match imported {
        Some(path) => format!("{} has the same name", path.display()),
        None => "A module of Python itself has the same name".to_owned(),
    };
    StartError::new(format!(
        "the module {name} in {} cannot be imported. {other} and was imported before. Rename yours.",
        own.display()
    ))
}

/// The file that the module `name` was imported from, if it has one.
pub(super) fn file_of(py: Python<'_>, name: &str) -> Option<PathBuf> {
    let file = py.import(name).ok()?.getattr("__file__").ok()?.extract::<PathBuf>().ok()?;
    Some(file.canonicalize().unwrap_or(file))
}

/// Code of the application raised while `doing` something.
pub(crate) fn raised(py: Python<'_>, doing: &str, error: &PyErr) -> StartError {
    let message = format!("{doing} failed. {}. The traceback shows where.", one_line(py, error));
    StartError::with_traceback(message, traceback(py, error))
}

/// `object`, which people know as `owner`, has no attribute `part`.
pub(super) fn no_attribute(
    object: &Bound<'_, PyAny>,
    owner: &str,
    spec: &AppSpec,
    part: &str,
) -> StartError {
    let names = public_names(object);
    let hint = match nearest(part, names.iter().map(String::as_str)) {
        Some(meant) => format!("Did you mean {meant}?"),
        None => callables_hint(object, spec, &names),
    };
    StartError::new(format!("{owner} has no attribute {part:?}. {hint}"))
}

/// No attribute was named, and neither of the usual ones is there.
pub(super) fn no_default(module: &Bound<'_, PyModule>, spec: &AppSpec) -> StartError {
    let hint = callables_hint(module, spec, &public_names(module));
    StartError::new(format!("{} has neither \"application\" nor \"app\". {hint}", spec.module))
}

/// The type of an object with its module: `builtins.str` is `str`.
pub(super) fn type_name(object: &Bound<'_, PyAny>) -> String {
    object
        .get_type()
        .fully_qualified_name()
        .map_or_else(|_| "object".to_owned(), |name| name.to_string())
}

/// Whether it is the module itself that is missing, or a package above it, and not something that it imports.
fn is_missing_itself(py: Python<'_>, module: &str, error: &PyErr) -> bool {
    let name = error
        .value(py)
        .getattr("name")
        .and_then(|name| name.extract::<String>())
        .unwrap_or_default();
    let is_it =
        module == name || module.strip_prefix(&*name).is_some_and(|rest| rest.starts_with('.'));
    error.is_instance_of::<PyModuleNotFoundError>(py) && is_it && !has_frames(py, error)
}

/// Whether code other than the import machinery was running.
fn has_frames(py: Python<'_>, error: &PyErr) -> bool {
    let Some(first) = error.traceback(py) else { return false };
    let mut next = Some(first.into_any());
    while let Some(entry) = next {
        let file = entry
            .getattr("tb_frame")
            .and_then(|frame| frame.getattr("f_code")?.getattr("co_filename"));
        if file.is_ok_and(|file| !is_import_machinery(&file)) {
            return true;
        }
        next = entry.getattr("tb_next").ok().filter(|entry| !entry.is_none());
    }
    false
}

fn is_import_machinery(file: &Bound<'_, PyAny>) -> bool {
    file.extract::<String>().is_ok_and(|file| file.starts_with("<frozen importlib"))
}

fn no_module(py: Python<'_>, spec: &AppSpec, app_dir: &Path) -> StartError {
    let module = &spec.module;
    let here = modules_in(app_dir);
    let alike = || nearest(module, here.iter().map(String::as_str)).map(str::to_owned);
    let hint = match nearby::beside(py, spec).or_else(alike) {
        Some(meant) => format!("Did you mean {meant}?"),
        None => "Give the folder that holds it as --app-dir.".to_owned(),
    };
    StartError::new(format!(
        "there is no module {module}. It is neither in {} nor installed. {hint}",
        app_dir.display()
    ))
}

pub(super) fn modules_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| module_name(&entry.path())).collect()
}

fn module_name(path: &Path) -> Option<String> {
    let is_module = path.extension().is_some_and(|extension| extension == "py");
    let is_package = path.join("__init__.py").is_file();
    let name = path.file_stem()?.to_str()?;
    (is_module || is_package).then(|| name.to_owned())
}

pub(super) fn public_names(object: &Bound<'_, PyAny>) -> Vec<String> {
    let names = object.dir().and_then(|names| names.extract::<Vec<String>>()).unwrap_or_default();
    names.into_iter().filter(|name| !name.starts_with('_')).collect()
}

fn callables_hint(object: &Bound<'_, PyAny>, spec: &AppSpec, names: &[String]) -> String {
    let module = &spec.module;
    let candidates: Vec<String> =
        names.iter().filter_map(|name| candidate(object, name, module)).take(5).collect();
    match candidates.as_slice() {
        [] => nearby::in_package(object, spec)
            .unwrap_or_else(|| format!("Name the callable, as in {module}:NAME.")),
        [one] => format!("Is it {module}:{one}?"),
        several => format!("Is it one of {}? Write {module}:NAME.", several.join(", ")),
    }
}

/// How to write the attribute `name` if it could be the application: made in the module, and no class.
fn candidate(object: &Bound<'_, PyAny>, name: &str, module: &str) -> Option<String> {
    let value = object.getattr(name).ok()?;
    let home = value.getattr("__module__").and_then(|home| home.extract::<String>());
    let is_imported =
        value.hasattr("__code__").unwrap_or(false) && home.is_ok_and(|home| home != module);
    if is_imported || value.is_instance_of::<PyType>() {
        return None;
    }
    match role_of(&value) {
        Role::Application(_) | Role::Likely(_) => Some(name.to_owned()),
        Role::Factory => Some(format!("{name}()")),
        _ => None,
    }
}

pub(crate) fn executable(py: Python<'_>) -> String {
    let executable =
        py.import("sys").and_then(|sys| sys.getattr("executable")?.extract::<String>());
    executable.ok().filter(|path| !path.is_empty()).unwrap_or_else(|| "this Python".to_owned())
}

/// `KeyError: 'X'`, without a full stop.
pub(crate) fn one_line(py: Python<'_>, error: &PyErr) -> String {
    let text = error.value(py).str().map(|text| text.to_string()).unwrap_or_default();
    let kind = error.get_type(py).name().map(|name| name.to_string()).unwrap_or_default();
    let first = text.lines().next().unwrap_or_default().trim_end_matches('.');
    if first.is_empty() { kind } else { format!("{kind}: {first}") }
}

/// The traceback as Python prints it, without the import machinery's frames.
pub(crate) fn traceback(py: Python<'_>, error: &PyErr) -> String {
    formatted(py, error).unwrap_or_else(|_| error.to_string())
}

fn formatted(py: Python<'_>, error: &PyErr) -> PyResult<String> {
    let report = py.import("traceback")?.getattr("TracebackException")?.call1((
        error.get_type(py),
        error.value(py),
        error.traceback(py),
    ))?;
    trim(&report)?;
    let lines: Vec<String> = report
        .call_method0("format")?
        .try_iter()?
        .map(|line| line?.extract())
        .collect::<PyResult<_>>()?;
    Ok(lines.concat())
}

/// Takes the import machinery out of a `TracebackException` and of those it was raised from.
fn trim(report: &Bound<'_, PyAny>) -> PyResult<()> {
    let stack = report.getattr("stack")?.cast_into::<PyList>()?;
    for index in (0..stack.len()).rev() {
        if is_import_machinery(&stack.get_item(index)?.getattr("filename")?) {
            stack.del_item(index)?;
        }
    }
    for link in ["__cause__", "__context__"] {
        let earlier = report.getattr(link)?;
        if !earlier.is_none() {
            trim(&earlier)?;
        }
    }
    Ok(())
}
