//! Where an application may be that is not where it was said to be.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyModule;

use super::explain::public_names;
use crate::settings::{AppSpec, nearest};

/// `wiki:app` for `wiki.app`, if `wiki` is a module that has been imported and has `app` or something like it.
pub(super) fn with_colon(py: Python<'_>, spec: &AppSpec) -> Option<String> {
    let (head, part) = match &spec.attribute {
        None => spec.module.rsplit_once('.')?,
        Some(_) => return None,
    };
    let module = imported(py, head)?;
    let names = public_names(&module);
    let meant = match module.hasattr(part).unwrap_or(false) {
        true => part,
        false => nearest(part, names.iter().map(String::as_str))?,
    };
    Some(format!("{head}:{meant}"))
}

/// What to do if `object` is the package that `spec` names as the module: a module in its folder may be meant.
pub(super) fn in_package(object: &Bound<'_, PyAny>, spec: &AppSpec) -> Option<String> {
    let module = object.cast::<PyModule>().ok()?;
    let folder = folder_of(module)?;
    let package = &spec.module;
    let is_it = module.name().ok()?.to_str().ok()? == package;
    let call = if spec.factory { "()" } else { "" };
    let attribute =
        spec.attribute.as_ref().map(|name| format!(":{name}{call}")).unwrap_or_default();
    let within = USUAL.iter().find(|name| folder.join(format!("{name}.py")).is_file());
    let hint = match within {
        Some(name) => format!("Did you mean {package}.{name}{attribute}?"),
        None => format!("Name a module in it, as in {package}.MODULE{attribute}."),
    };
    is_it.then(|| format!("{package} is the folder {}. {hint}", folder.display()))
}

/// The importing of `wiki.app` has imported `wiki`, if it is there.
fn imported<'py>(py: Python<'py>, name: &str) -> Option<Bound<'py, PyAny>> {
    py.import("sys").ok()?.getattr("modules").ok()?.get_item(name).ok()
}

/// The first of the folders that a package consists of.
fn folder_of(module: &Bound<'_, PyModule>) -> Option<PathBuf> {
    let mut folders = module.getattr("__path__").ok()?.try_iter().ok()?;
    let folder = folders.next()?.ok()?.extract::<PathBuf>().ok()?;
    Path::is_dir(&folder).then_some(folder)
}

/// The modules in which applications are, most likely first.
const USUAL: &[&str] = &["main", "app", "asgi", "wsgi"];
