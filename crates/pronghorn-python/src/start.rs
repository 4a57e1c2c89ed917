//! From what was typed to a server that runs: the command and `run()`.

use std::ffi::OsString;
use std::fmt;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::alone::serve_alone;
use crate::app::{self, StartError};
use crate::cli::{self, Action};
use crate::logging;
use crate::settings::{self, Gathered, Given, Settings, Sources, UsageError};

/// Why the command did not do what it was asked to.
#[derive(Debug)]
pub enum Failure {
    /// What was typed is wrong.
    Usage(UsageError),
    /// The server cannot start.
    Start(StartError),
}

impl Failure {
    /// The exit status of the command.
    fn status(&self) -> i32 {
        match self {
            Self::Usage(_) => 2,
            Self::Start(_) => 1,
        }
    }
}

impl From<UsageError> for Failure {
    fn from(error: UsageError) -> Self {
        Self::Usage(error)
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        Self::Start(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(error) => error.fmt(f),
            Self::Start(error) => error.fmt(f),
        }
    }
}

/// Does what the arguments, without the program's name, ask for; tells what went wrong and gives the exit status.
pub fn main(py: Python<'_>, arguments: Vec<OsString>) -> i32 {
    pronghorn_engine::open_standard_streams();
    match command(py, arguments) {
        Ok(()) => 0,
        Err(failure) => {
            tell(&format!("pronghorn: error: {failure}"));
            failure.status()
        }
    }
}

fn command(py: Python<'_>, arguments: Vec<OsString>) -> Result<(), Failure> {
    let (action, typed) = cli::parse(arguments)?;
    if let Action::Print(text) = action {
        return Ok(print(&text)?);
    }
    let gathered = gather(typed)?;
    let settings = gathered.given.resolve()?;
    if action == Action::PrintConfig {
        return Ok(print(&settings::toml_text(&gathered.given))?);
    }
    let spec = settings.app.clone().ok_or_else(no_application)?;
    prepare(py, &settings, &gathered)?;
    let load = || app::load(py, &spec, &settings.app_dir);
    if action == Action::CheckConfig {
        load()?;
        return Ok(print("The settings are valid and the application can be imported.\n")?);
    }
    Ok(serve_alone(py, &settings, load)?)
}

/// Serves an application object, or one named by a text, with settings by keyword; returns after the drain.
///
/// # Errors
/// A keyword that is wrong, or why the server cannot start.
pub fn run(application: &Bound<'_, PyAny>, keywords: &Bound<'_, PyDict>) -> Result<(), Failure> {
    pronghorn_engine::open_standard_streams();
    let py = application.py();
    let named = application.extract::<String>().ok();
    let gathered = gather(given(keywords, named.clone())?)?;
    let settings = gathered.given.resolve()?;
    prepare(py, &settings, &gathered)?;
    let load = || match (named, &settings.app) {
        (Some(_), Some(spec)) => app::load(py, spec, &settings.app_dir),
        _ => {
            app::check_wsgi(application, "the object given to run()")?;
            Ok(application.clone())
        }
    };
    Ok(serve_alone(py, &settings, load)?)
}

/// The keywords as texts; one that is None counts as not given.
fn given(keywords: &Bound<'_, PyDict>, app: Option<String>) -> Result<Given, UsageError> {
    let mut noted: Vec<_> = app.into_iter().map(|name| ("app".to_owned(), vec![name])).collect();
    for (name, value) in keywords.iter().filter(|(_, value)| !value.is_none()) {
        let texts = texts(&value).map_err(|_| {
            UsageError::new(format!(
                "{name} has a value that is no text. Give a str, a number or a bool."
            ))
        })?;
        noted.push((name.to_string(), texts));
    }
    settings::from_keywords(noted)
}

fn texts(value: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    if value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>() {
        return value.try_iter()?.map(|item| item?.str()?.extract()).collect();
    }
    Ok(vec![value.str()?.extract()?])
}

/// A line on standard error, which may be closed: there is nowhere else to tell of that.
fn tell(line: &str) {
    let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
}

fn gather(direct: Given) -> Result<Gathered, UsageError> {
    let environment = std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
    let gathered = settings::gather(Sources {
        direct,
        environment: environment.collect(),
        read: &|path| fs::read_to_string(path),
    })?;
    for warning in &gathered.warnings {
        tell(&format!("pronghorn: warning: {warning}"));
    }
    Ok(gathered)
}

/// What the application may rely on while it is imported: the working directory, the environment, the log.
fn prepare(py: Python<'_>, settings: &Settings, gathered: &Gathered) -> Result<(), StartError> {
    logging::install(settings.log_level);
    settings.chdir.as_deref().map_or(Ok(()), change_directory)?;
    add_to_environment(py, &gathered.variables).map_err(|error| {
        StartError::new(format!("cannot set the environment. {error}. Check env-file."))
    })
}

fn change_directory(folder: &Path) -> Result<(), StartError> {
    std::env::set_current_dir(folder).map_err(|error| {
        let reason = settings::reason(&error);
        StartError::new(format!("cannot change to {}. {reason} Check chdir.", folder.display()))
    })
}

/// Through `os.environ`, so that Python and C see the same.
fn add_to_environment(py: Python<'_>, variables: &[(String, String)]) -> PyResult<()> {
    if variables.is_empty() {
        return Ok(());
    }
    let environ = py.import("os")?.getattr("environ")?;
    variables.iter().try_for_each(|(name, value)| environ.set_item(name, value))
}

fn no_application() -> UsageError {
    UsageError::new(
        "APP is missing. There is nothing to serve. Write pronghorn MODULE:ATTRIBUTE, as in pronghorn wiki:application.",
    )
}

fn print(text: &str) -> Result<(), StartError> {
    match io::stdout().write_all(text.as_bytes()) {
        // `pronghorn --help | head` has read what it wants.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        Err(error) => Err(StartError::new(format!(
            "cannot write to standard output. {error}. Check where it goes."
        ))),
        Ok(()) => Ok(()),
    }
}
