//! What was typed, and where, before anything is made of it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::declare::Setting;
use super::error::sentence;
use super::kind::Kind;
use super::listen;
use super::own;
use super::table::{Settings, TABLE};
use super::{Arity, UsageError};

/// What was typed: texts by the setting's name, each with where it stands. Nothing is judged yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Given {
    entries: BTreeMap<&'static str, Entry>,
}

/// What was typed for one setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// One text, or several for a setting that takes many.
    pub texts: Vec<String>,
    /// Where it was typed.
    pub origin: Origin,
}

/// Where a text was typed, the weakest place first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The settings file and the line in it.
    File(PathBuf, usize),
    /// An environment variable that the environment file sets, and the line in it.
    EnvFile(PathBuf, usize, String),
    /// An environment variable.
    Variable(String),
    /// A keyword of `pronghorn.run()`.
    Keyword,
    /// The command line.
    Flag,
}

impl Given {
    /// Notes the texts of a setting, in place of what was noted before.
    pub fn set(&mut self, setting: &Setting, texts: Vec<String>, origin: Origin) {
        // The table's own copy of the name lives as long as the program.
        if let Some(setting) = TABLE.iter().find(|known| known.name == setting.name) {
            self.entries.insert(setting.name, Entry { texts, origin });
        }
    }

    /// What was typed for the setting of this name, if anything was.
    pub fn get(&self, name: &str) -> Option<&Entry> {
        self.entries.get(name)
    }

    /// Both, this one winning where both have a text.
    #[must_use]
    pub fn over(mut self, weaker: Self) -> Self {
        for (name, entry) in weaker.entries {
            self.entries.entry(name).or_insert(entry);
        }
        self
    }

    /// The same, for one process without a supervisor.
    #[must_use]
    pub fn alone(mut self) -> Self {
        let texts = vec!["false".to_owned()];
        self.entries.insert("supervisor", Entry { texts, origin: Origin::Keyword });
        self
    }

    /// What the settings mean. `bind` then holds every address that was asked for, whatever it was given by.
    ///
    /// # Errors
    /// The first mistake, with where it was typed and what to write.
    pub fn resolve(&self) -> Result<Settings, UsageError> {
        let mut settings = Settings::from_given(self)?.combined();
        if !settings.supervisor && self.is_shared("workers") {
            // A platform says so to all programs; this one was told to be alone.
            settings.workers = 1;
        }
        self.check_supervised(&settings)?;
        self.check_reload(&settings)?;
        self.check_proxies(&settings)?;
        settings.bind = listen::addresses(self, &settings)?;
        own::check(self, &settings)?;
        Ok(settings)
    }

    /// What the texts of one setting mean.
    pub(super) fn value<K: Kind>(&self, name: &'static str) -> Result<K::Out, UsageError> {
        if let Some(entry) = self.get(name) {
            return K::resolve(&entry.texts).map_err(|reason| self.mistake(name, &reason));
        }
        let default: Vec<String> = default_of(name).iter().map(|text| (*text).to_owned()).collect();
        K::resolve(&default).map_err(|reason| self.mistake(name, &reason))
    }

    /// A message about the setting of this name, as it was typed.
    pub(super) fn mistake(&self, name: &str, reason: &str) -> UsageError {
        UsageError::new(format!("{} is not valid. {}", self.as_typed(name), sentence(reason)))
    }

    /// Whether this setting comes from a variable that other programs read too.
    fn is_shared(&self, name: &str) -> bool {
        let setting = TABLE.iter().find(|setting| setting.name == name);
        let shared = setting.and_then(|setting| setting.shared_variable);
        let origin = self.get(name).map(|entry| &entry.origin);
        matches!((origin, shared), (Some(Origin::Variable(variable)), Some(shared)) if variable == shared)
    }

    /// One process is one worker, and nobody is there to replace it.
    fn check_supervised(&self, settings: &Settings) -> Result<(), UsageError> {
        let needed = ["workers", "preload", "reload", "max_requests", "max_lifetime", "max_memory"];
        let wanted = [
            settings.workers > 1,
            settings.preload,
            settings.reload,
            settings.max_requests > 0,
            !settings.max_lifetime.is_zero(),
            settings.max_memory > 0,
        ];
        let unmet = needed.iter().zip(wanted).find(|(_, wanted)| *wanted);
        match unmet {
            Some((name, _)) if !settings.supervisor => Err(UsageError::new(format!(
                "{} needs the supervisor. Without it there is one process, which nobody replaces. \
                 Leave out {}, or do not turn the supervisor off.",
                self.as_typed(name),
                name.replace('_', "-")
            ))),
            _ => Ok(()),
        }
    }

    /// What was imported before the fork is as it was then.
    fn check_reload(&self, settings: &Settings) -> Result<(), UsageError> {
        match settings.reload && settings.preload {
            false => Ok(()),
            true => Err(UsageError::new(format!(
                "{} and {} exclude each other. An application that is imported once does not see its files change. \
                 Leave out one of them.",
                self.as_typed("reload"),
                self.as_typed("preload")
            ))),
        }
    }

    /// A setting the way the person wrote it: `--threads 0`, `PRONGHORN_THREADS=0`, `conf.toml:3: threads = 0`.
    fn as_typed(&self, name: &str) -> String {
        let setting = TABLE.iter().find(|setting| setting.name == name);
        match (setting, self.get(name)) {
            (Some(setting), Some(entry)) => entry.as_typed(setting),
            _ => name.to_owned(),
        }
    }
}

impl Entry {
    fn as_typed(&self, setting: &Setting) -> String {
        let key = setting.key();
        let text = self.texts.join(",");
        match &self.origin {
            Origin::Flag if setting.positional => format!("{} {text:?}", setting.placeholder),
            Origin::Flag if setting.arity == Arity::Switch => format!("--{key}"),
            Origin::Flag => format!("--{key} {}", self.texts.join(&format!(" --{key} "))),
            Origin::Keyword => format!("{}={text:?}", setting.name),
            Origin::Variable(variable) => format!("{variable}={text}"),
            Origin::EnvFile(path, line, variable) => {
                format!("{}:{line}: {variable}={text}", path.display())
            }
            Origin::File(path, line) => {
                format!("{}:{line}: {key} = {}", path.display(), setting.toml(&self.texts))
            }
        }
    }
}

fn default_of(name: &str) -> &'static [&'static str] {
    TABLE.iter().find(|setting| setting.name == name).map_or(&[], |setting| setting.default)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    pub(crate) fn given(name: &str, text: &str, origin: Origin) -> Given {
        let setting = TABLE.iter().find(|setting| setting.name == name).expect("a known setting");
        let mut given = Given::default();
        given.set(setting, vec![text.to_owned()], origin);
        given
    }

    fn variable(name: &str) -> Origin {
        Origin::Variable(name.to_owned())
    }

    #[test]
    fn nothing_given_is_the_defaults() {
        let settings = Given::default().resolve().expect("defaults are valid");
        assert_eq!(settings.threads, 8);
        assert_eq!(settings.max_body, 100 << 20);
        assert_eq!(settings.head_timeout, Duration::from_secs(10));
        assert_eq!(settings.app, None);
        assert!(settings.server_header);
    }

    #[test]
    fn a_flag_wins_over_a_variable_over_the_file() {
        let flag = given("threads", "4", Origin::Flag);
        let environment = given("threads", "3", variable("PRONGHORN_THREADS"));
        let file = given("threads", "2", Origin::File("p.toml".into(), 1));
        let threads = |given: Given| given.resolve().map(|settings| settings.threads);
        assert_eq!(threads(flag.over(environment.clone()).over(file.clone())), Ok(4));
        assert_eq!(threads(environment.over(file.clone())), Ok(3));
        assert_eq!(threads(file), Ok(2));
    }

    #[test]
    fn a_mistake_is_shown_as_it_was_typed() {
        let message =
            |origin| given("threads", "0", origin).resolve().expect_err("0 threads").to_string();
        let reason = "is not valid. Expected a whole number from 1 to 1024.";
        assert_eq!(message(Origin::Flag), format!("--threads 0 {reason}"));
        assert_eq!(message(Origin::Keyword), format!("threads=\"0\" {reason}"));
        assert_eq!(message(variable("PRONGHORN_THREADS")), format!("PRONGHORN_THREADS=0 {reason}"));
        assert_eq!(
            message(Origin::EnvFile(".env".into(), 2, "PRONGHORN_THREADS".to_owned())),
            format!(".env:2: PRONGHORN_THREADS=0 {reason}")
        );
        assert_eq!(
            message(Origin::File("p.toml".into(), 3)),
            format!("p.toml:3: threads = 0 {reason}")
        );
    }

    #[test]
    fn the_application_is_shown_without_a_flag() {
        let error = given("app", "wiki.py:app", Origin::Flag).resolve().expect_err("a path");
        assert_eq!(
            error.to_string(),
            "APP \"wiki.py:app\" is not valid. Expected a module, not a path: write wiki:app."
        );
    }

    #[test]
    fn factory_holds_for_the_application() {
        let both =
            given("app", "wiki:make", Origin::Flag).over(given("factory", "true", Origin::Flag));
        assert!(both.resolve().expect("valid").app.expect("given").factory);
    }

    #[test]
    fn what_needs_the_supervisor_says_so() {
        let alone = given("supervisor", "false", Origin::Flag);
        let workers = |name| given("workers", "4", variable(name)).over(alone.clone()).resolve();
        let message = workers("PRONGHORN_WORKERS").expect_err("one process only").to_string();
        assert!(message.starts_with("PRONGHORN_WORKERS=4 needs the supervisor."), "{message}");
        assert_eq!(workers("WEB_CONCURRENCY").map(|settings| settings.workers), Ok(1));
    }

    #[test]
    fn what_is_imported_once_is_not_reloaded() {
        let both =
            given("reload", "true", Origin::Flag).over(given("preload", "true", variable("P")));
        let message = both.resolve().expect_err("one or the other").to_string();
        assert!(message.starts_with("--reload and P=true exclude each other."), "{message}");
    }
}
