//! From what was typed to what the server is to do, and reading it anew.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::os::fd::RawFd;
use std::path::PathBuf;

use pronghorn_engine::{millis, random_number};
use pyo3::prelude::*;

use crate::app::{self, Application, StartError};
use crate::environ;
use crate::identity::Identity;
use crate::listening::Manner;
use crate::reload;
use crate::settings::{self, Address, AppSpec, Gathered, Given, Settings, Sources, UsageError};
use crate::start::{self, Failure};

/// Where settings come from: what was typed, and where.
pub(crate) struct Source {
    typed: Given,
    /// The folder that paths of the command line are relative to, whatever `chdir` says.
    pub(crate) folder: PathBuf,
}

/// Settings, and what follows from them without opening anything.
pub(crate) struct Configuration {
    pub(crate) settings: Settings,
    /// Variables that the application is to find in its environment.
    variables: Vec<(String, String)>,
    spec: AppSpec,
    pub(crate) identity: Identity,
    pub(crate) manner: Manner,
}

impl Source {
    /// What was typed in the present folder.
    pub(crate) fn new(typed: Given) -> Self {
        Source { typed, folder: env::current_dir().unwrap_or_default() }
    }

    /// Everything that was typed, wherever, and what it means.
    ///
    /// # Errors
    /// A mistake in it.
    pub(crate) fn gather(&self) -> Result<(Gathered, Settings), UsageError> {
        let texts = |(name, value): (OsString, OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let mut gathered = settings::gather(Sources {
            direct: self.typed.clone(),
            environment: env::vars_os().filter_map(texts).collect(),
            read: &|path| fs::read_to_string(self.folder.join(path)),
        })?;
        let settings = gathered.given.resolve()?;
        gathered.warnings.extend(reload::oddity(&settings));
        Ok((gathered, settings))
    }

    /// Looks up what the settings name, and changes to their folder.
    ///
    /// # Errors
    /// What they name is not there.
    pub(crate) fn configure(
        &self,
        py: Python<'_>,
        gathered: Gathered,
        settings: Settings,
    ) -> Result<Configuration, Failure> {
        let spec = settings.app.clone().ok_or_else(no_application)?;
        start::prepare(&settings, &self.folder)?;
        let identity = Identity::resolve(py, &settings)?;
        let manner = Manner::resolve(py, &settings)?;
        reload::check(&settings)?;
        Ok(Configuration { settings, variables: gathered.variables, spec, identity, manner })
    }

    /// Reads everything anew.
    ///
    /// # Errors
    /// A mistake in it, or what it names is not there.
    pub(crate) fn read(&self, py: Python<'_>) -> Result<Configuration, Failure> {
        let (gathered, settings) = self.gather()?;
        // By the log, which does not wait for a reader of standard error.
        gathered.warnings.iter().for_each(|warning| log::warn!("{warning}"));
        self.configure(py, gathered, settings)
    }
}

impl Configuration {
    /// The application, if it is to be imported before the workers are forked.
    ///
    /// # Errors
    /// It cannot be imported.
    pub(crate) fn preloaded(&self, py: Python<'_>) -> Result<Option<Application>, StartError> {
        let wanted = self.settings.preload.then(|| self.load(py));
        wanted.transpose()
    }

    /// Imports the application.
    ///
    /// # Errors
    /// It cannot be imported.
    pub(crate) fn load(&self, py: Python<'_>) -> Result<Application, StartError> {
        environ::add(py, &self.variables)?;
        app::load(py, &self.spec, &self.settings.app_dir, self.settings.interface)
    }

    /// Where to listen. `systemd`: the sockets it opened.
    pub(crate) fn addresses(&self, systemd: &[RawFd]) -> Vec<Address> {
        self.settings.addresses(systemd)
    }

    /// How many milliseconds a worker may live.
    pub(crate) fn lifetime(&self) -> Option<u64> {
        let jitter = random_up_to(millis(self.settings.max_lifetime_jitter));
        let most = millis(self.settings.max_lifetime);
        (most > 0).then(|| most.saturating_add(jitter))
    }

    /// After how many requests a worker is to be replaced.
    pub(crate) fn max_requests(&self) -> Option<u64> {
        let most = u64::from(self.settings.max_requests);
        let jitter = random_up_to(self.settings.max_requests_jitter.into());
        (most > 0).then(|| most + jitter)
    }

    /// How much resident memory a worker may take, in bytes.
    pub(crate) fn most_memory(&self) -> Option<u64> {
        let jitter = random_up_to(self.settings.max_memory_jitter);
        let most = self.settings.max_memory;
        (most > 0).then(|| most.saturating_add(jitter))
    }
}

fn no_application() -> UsageError {
    UsageError::new(
        "APP is missing. There is nothing to serve. Write pronghorn MODULE:ATTRIBUTE, as in pronghorn wiki:application.",
    )
}

/// A number by chance, up to `most`.
fn random_up_to(most: u64) -> u64 {
    if most == 0 { 0 } else { random_number() % most.saturating_add(1) }
}
