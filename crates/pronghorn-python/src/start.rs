//! From what was typed to a server that runs: the command and `run()`.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write as _};
use std::path::Path;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyTuple};

use crate::alone::serve_alone;
use crate::app::{self, Interface, StartError};
use crate::cli::{self, Action};
use crate::configuration::{Configuration, Source};
use crate::environ;
use crate::identity::Identity;
use crate::listening::{Manner, reason_of_creating};
use crate::settings::{self, Arity, Gathered, Given, Setting, Settings, TABLE, UsageError};
use crate::supervisor::{self, Outcome};
use crate::{access_log, asgi, logging};

/// Why the command did not do what it was asked to.
#[derive(Debug)]
pub enum Failure {
    /// What was typed is wrong.
    Usage(UsageError),
    /// A keyword is no setting, or its value is of another type.
    Keyword(UsageError),
    /// The server cannot start.
    Start(StartError),
}

impl Failure {
    /// The exit status of the command.
    fn status(&self) -> i32 {
        match self {
            Self::Usage(_) | Self::Keyword(_) => 2,
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
            Self::Usage(error) | Self::Keyword(error) => error.fmt(f),
            Self::Start(error) => error.fmt(f),
        }
    }
}

/// Does what the arguments, without the program's name, ask for; tells what went wrong and gives the exit status.
pub fn main(py: Python<'_>, arguments: Vec<OsString>) -> i32 {
    pronghorn_engine::open_standard_streams();
    let status = match command(py, arguments) {
        Ok(status) => status,
        Err(failure) => {
            tell(&format!("pronghorn: error: {failure}"));
            failure.status()
        }
    };
    if logging::is_stuck() {
        log::warn!("the application's logging does not come back: the process ends without it");
        pronghorn_engine::exit_now(status);
    }
    if asgi::is_stuck() {
        log::warn!("a thread of the application does not come back: the process ends without it");
        pronghorn_engine::exit_now(status);
    }
    status
}

fn command(py: Python<'_>, arguments: Vec<OsString>) -> Result<i32, Failure> {
    let (action, typed) = cli::parse(arguments)?;
    if let Action::Print(text) = action {
        return Ok(print(&text)?);
    }
    let source = Source::new(typed);
    let (gathered, settings) = source.gather()?;
    tell_warnings(&gathered);
    if action == Action::PrintConfig {
        return Ok(print(&settings::toml_text(&gathered.given))?);
    }
    let configuration = source.configure(py, gathered, settings)?;
    if action == Action::CheckConfig {
        let application = configuration.load(py)?;
        access_log::check(&configuration.settings)?;
        if application.interface == Interface::Asgi {
            asgi::check(py, configuration.settings.r#loop)?;
        }
        let interface = application.interface.name();
        let told = format!(
            "The settings are valid and the application can be imported. Its interface is {interface}.\n"
        );
        return Ok(print(&told)?);
    }
    if !configuration.settings.supervisor {
        serve_configured(py, &configuration)?;
        return Ok(0);
    }
    Ok(match supervisor::run(py, source, configuration)? {
        Outcome::Over(status) => status,
        Outcome::Worker(assignment) => supervisor::work(py, *assignment),
    })
}

/// Serves an application object, or one named by a text, with settings by keyword; returns after the drain.
///
/// # Errors
/// A keyword that is wrong, or why the server cannot start.
pub fn run(application: &Bound<'_, PyAny>, keywords: &Bound<'_, PyDict>) -> Result<(), Failure> {
    pronghorn_engine::open_standard_streams();
    let py = application.py();
    let named = application.extract::<String>().ok();
    let given = given(keywords, named.clone()).map_err(Failure::Keyword)?;
    let source = Source::new(given.alone());
    let (gathered, settings) = source.gather()?;
    tell_warnings(&gathered);
    if named.is_some() {
        let configuration = source.configure(py, gathered, settings)?;
        return Ok(serve_configured(py, &configuration)?);
    }
    prepare(&settings, &source.folder)?;
    environ::add(py, &gathered.variables)?;
    let load =
        || app::recognize(application.clone(), "the object given to run()", settings.interface);
    let identity = Identity::resolve(py, &settings)?;
    Ok(serve_alone(py, &settings, &identity, &Manner::resolve(py, &settings)?, load)?)
}

/// Serves the application that is named, in this process.
fn serve_configured(py: Python<'_>, configuration: &Configuration) -> Result<(), StartError> {
    let Configuration { settings, identity, manner, .. } = configuration;
    serve_alone(py, settings, identity, manner, || configuration.load(py))
}

/// The keywords as texts; one that is None counts as not given.
fn given(keywords: &Bound<'_, PyDict>, app: Option<String>) -> Result<Given, UsageError> {
    let mut noted: Vec<_> = app.into_iter().map(|name| ("app".to_owned(), vec![name])).collect();
    for (name, value) in keywords.iter().filter(|(_, value)| !value.is_none()) {
        let name = name.to_string();
        let setting = TABLE.iter().find(|setting| setting.name == name);
        let texts = texts(setting, &value).ok_or_else(|| wrong_type(&name, setting, &value))?;
        noted.push((name, texts));
    }
    settings::from_keywords(noted, cli::advice)
}

/// The texts that a value stands for; none if it is of a type that stands for none. Of what is no setting any value is taken.
fn texts(setting: Option<&Setting>, value: &Bound<'_, PyAny>) -> Option<Vec<String>> {
    let is_list = value.is_instance_of::<PyList>() || value.is_instance_of::<PyTuple>();
    let Some(setting) = setting else { return Some(vec![value.to_string()]) };
    match is_list && setting.arity == Arity::Many {
        true => value.try_iter().ok()?.map(|item| text(setting, &item.ok()?)).collect(),
        false => text(setting, value).map(|text| vec![text]),
    }
}

/// A switch is a bool, and nothing else is.
fn text(setting: &Setting, value: &Bound<'_, PyAny>) -> Option<String> {
    if value.is_instance_of::<PyBool>() {
        return (setting.arity == Arity::Switch).then(|| value.to_string());
    }
    let is = |name: &str| value.hasattr(name).unwrap_or(false);
    if let Ok(text) = value.extract::<String>() {
        Some(text)
    } else if is("__fspath__") {
        value.call_method0("__fspath__").ok()?.extract().ok()
    } else {
        (is("__index__") || is("__float__")).then(|| value.to_string())
    }
}

fn wrong_type(name: &str, setting: Option<&Setting>, value: &Bound<'_, PyAny>) -> UsageError {
    let shown = value.repr().map_or_else(|_| "...".to_owned(), |text| text.to_string());
    let kind =
        value.get_type().name().map_or_else(|_| "object".to_owned(), |name| name.to_string());
    let expected = setting.map(|setting| (setting.expects)()).unwrap_or_default();
    let help = setting.map(|setting| setting.help.trim()).unwrap_or_default();
    UsageError::new(format!(
        "{name}={shown} is not valid. Expected {expected}, nothing of type {kind}. {help}"
    ))
}

/// There is no log yet.
fn tell_warnings(gathered: &Gathered) {
    for warning in &gathered.warnings {
        tell(&format!("pronghorn: warning: {warning}"));
    }
}

/// A line on standard error, which may be closed: there is nowhere else to tell of that.
fn tell(line: &str) {
    let _ = io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// What the application may rely on while it is imported: the working directory, relative to `folder`, and the log.
pub(crate) fn prepare(settings: &Settings, folder: &Path) -> Result<(), StartError> {
    settings.chdir.as_deref().map_or(Ok(()), |to| change_directory(&folder.join(to)))?;
    let file = settings.error_log.as_deref();
    logging::install(settings.log_level, file).map_err(|error| {
        StartError::new(format!(
            "cannot open the log {}. {} Check error-log.",
            file.unwrap_or(Path::new("-")).display(),
            reason_of_creating(&error)
        ))
    })
}

fn change_directory(folder: &Path) -> Result<(), StartError> {
    std::env::set_current_dir(folder).map_err(|error| {
        let reason = settings::reason(&error);
        StartError::new(format!("cannot change to {}. {reason} Check chdir.", folder.display()))
    })
}

fn print(text: &str) -> Result<i32, StartError> {
    match io::stdout().write_all(text.as_bytes()) {
        // `pronghorn --help | head` has read what it wants.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(0),
        Err(error) => Err(StartError::new(format!(
            "cannot write to standard output. {error}. Check where it goes."
        ))),
        Ok(()) => Ok(0),
    }
}
