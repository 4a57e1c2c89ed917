//! Where an application may be that is not where it was said to be.

use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use pyo3::types::PyModule;

use super::explain::{modules_in, public_names};
use crate::settings::{AppSpec, nearest};

/// What may be meant by a module that is not there, if the one above it has been imported: an attribute of that, as in `wiki:app` for
/// `wiki.app`, or another module in it, as in `wiki.main:app`.
pub(super) fn beside(py: Python<'_>, spec: &AppSpec) -> Option<String> {
    let (head, part) = spec.module.rsplit_once('.')?;
    let above = imported(py, head)?;
    let has_part = above.hasattr(part).unwrap_or(false);
    let names = if spec.attribute.is_none() { public_names(&above) } else { Vec::new() };
    if spec.attribute.is_none() && has_part {
        return Some(format!("{head}:{part}"));
    }
    let folder = above.cast::<PyModule>().ok().and_then(folder_of);
    let is_application = spec.attribute.is_none() && APPLICATIONS.contains(&part);
    let modules = folder.as_deref().filter(|_| !is_application).map(modules_in);
    let modules = modules.unwrap_or_default();
    if let Some(module) = nearest(part, modules.iter().map(String::as_str)) {
        return Some(format!("{head}.{module}{}", attribute(spec)));
    }
    if let Some(name) = nearest(part, names.iter().map(String::as_str)) {
        return Some(format!("{head}:{name}"));
    }
    let module = usual_module(&folder?)?;
    Some(match is_application {
        true => format!("{head}.{module}:{part}"),
        false => format!("{head}.{module}{}", attribute(spec)),
    })
}

/// The attribute of `spec` as it is written.
fn attribute(spec: &AppSpec) -> String {
    let call = if spec.factory { "()" } else { "" };
    spec.attribute.as_ref().map(|name| format!(":{name}{call}")).unwrap_or_default()
}

fn usual_module(folder: &Path) -> Option<&'static str> {
    USUAL.iter().copied().find(|name| folder.join(format!("{name}.py")).is_file())
}

/// What to do if `object` is the package that `spec` names as the module: a module in its folder may be meant.
pub(super) fn in_package(object: &Bound<'_, PyAny>, spec: &AppSpec) -> Option<String> {
    let module = object.cast::<PyModule>().ok()?;
    let folder = folder_of(module)?;
    let package = &spec.module;
    let is_it = module.name().ok()?.to_str().ok()? == package;
    let attribute = attribute(spec);
    let hint = match usual_module(&folder) {
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

/// What applications are called: none of their modules is.
const APPLICATIONS: &[&str] = &["app", "application", "create_app"];
