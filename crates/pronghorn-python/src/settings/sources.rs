//! Gathers what was typed from all places, the strongest first.

use std::io;
use std::path::Path;

use super::declare::VARIABLE_PREFIX;
use super::error::sentence;
use super::given::{Given, Origin};
use super::{Setting, TABLE, UsageError, env_file, environment, file};

/// The places settings come from.
pub struct Sources<'a> {
    /// The command line or the keywords of `run()`: the strongest.
    pub direct: Given,
    /// The process's environment.
    pub environment: Vec<(String, String)>,
    /// Reads a file whole.
    pub read: &'a dyn Fn(&Path) -> io::Result<String>,
}

/// What the places gave.
#[derive(Debug)]
pub struct Gathered {
    /// Every text, the strongest place winning.
    pub given: Given,
    /// Variables that the environment file adds to the environment.
    pub variables: Vec<(String, String)>,
    /// What is odd but no error, a sentence each.
    pub warnings: Vec<String>,
}

/// Reads the environment, the settings file and the environment file that the stronger places name.
///
/// # Errors
/// A file that cannot be read or has a mistake in it.
pub fn gather(sources: Sources<'_>) -> Result<Gathered, UsageError> {
    let Sources { direct, environment, read } = sources;
    let mut variables: Vec<_> = environment.into_iter().map(own_variable).collect();
    let own = direct.clone().over(environment::read(&variables));
    let file = match path_of(&own, "config") {
        Some(path) => file::read(path, &text_of(read, path, "config")?)?,
        None => Given::default(),
    };
    let own = own.over(file.clone());
    let added = match path_of(&own, "env_file") {
        Some(path) => added_variables(path, &text_of(read, path, "env-file")?, &variables)?,
        None => Vec::new(),
    };
    variables.extend(added.iter().cloned());
    Ok(Gathered {
        given: direct.over(environment::read(&variables)).over(file),
        warnings: environment::unknown(&variables),
        variables: added.into_iter().map(|(name, value, _)| (name, value)).collect(),
    })
}

/// Why a path or an address could not be used, as a sentence.
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "It does not exist.".to_owned(),
        io::ErrorKind::PermissionDenied => "Permission is denied.".to_owned(),
        io::ErrorKind::IsADirectory => "It is a folder.".to_owned(),
        io::ErrorKind::NotADirectory => "It is no folder.".to_owned(),
        io::ErrorKind::InvalidData => "It is not UTF-8 text.".to_owned(),
        _ => sentence(without_number(&error.to_string())),
    }
}

/// The standard library ends its texts with ` (os error 98)`.
fn without_number(text: &str) -> &str {
    text.split(" (os error").next().unwrap_or(text)
}

type Variable = (String, String, Origin);

fn own_variable((name, value): (String, String)) -> Variable {
    let origin = Origin::Variable(name.clone());
    (name, value, origin)
}

fn path_of<'a>(given: &'a Given, name: &str) -> Option<&'a Path> {
    given.get(name)?.texts.first().map(|text| Path::new(text.as_str()))
}

fn text_of(
    read: &dyn Fn(&Path) -> io::Result<String>,
    path: &Path,
    key: &str,
) -> Result<String, UsageError> {
    read(path).map_err(|error| {
        UsageError::new(format!("cannot read {}. {} Check {key}.", path.display(), reason(&error)))
    })
}

/// The variables of the environment file that the environment does not have.
fn added_variables(
    path: &Path,
    text: &str,
    present: &[Variable],
) -> Result<Vec<Variable>, UsageError> {
    let mistake = |line: usize, reason: &str| {
        UsageError::new(format!("{}:{line}: {reason}.", path.display()))
    };
    let lines = env_file::read(text).map_err(|(line, reason)| mistake(line, reason))?;
    let mut added: Vec<Variable> = Vec::new();
    for line in lines {
        if names_a_file(&line.name) {
            let reason =
                format!("{} has no effect in an environment file, give it as a flag", line.name);
            return Err(mistake(line.number, &reason));
        }
        if present.iter().any(|(name, ..)| *name == line.name) {
            continue;
        }
        let origin = Origin::EnvFile(path.to_owned(), line.number, line.name.clone());
        added.retain(|(name, ..)| *name != line.name);
        added.push((line.name, line.value, origin));
    }
    Ok(added)
}

/// The files are chosen before the environment file is read.
fn names_a_file(variable: &str) -> bool {
    let chosen_before = |setting: &&Setting| ["config", "env_file"].contains(&setting.name);
    variable.starts_with(VARIABLE_PREFIX)
        && TABLE.iter().filter(chosen_before).any(|setting| setting.variable() == variable)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::from_keywords;

    fn gathered(direct: &[(&str, &str)], environment: &[(&str, &str)]) -> Result<Gathered, String> {
        let owned = |(a, b): &(&str, &str)| ((*a).to_owned(), (*b).to_owned());
        let keywords = direct.iter().map(owned).map(|(name, text)| (name, vec![text])).collect();
        gather(Sources {
            direct: from_keywords(keywords, |_| None).expect("known"),
            environment: environment.iter().map(owned).collect(),
            read: &|path| match path.to_str() {
                Some("p.toml") => Ok("threads = 2\nbacklog = 2\nhead-timeout = 2\n".to_owned()),
                Some("e.toml") => Ok("env-file = 'e.env'".to_owned()),
                Some("e.env") => {
                    Ok("PRONGHORN_THREADS=5\nA=1\nB=2\nB=3\nPRONGHORN_THRED=1\n".to_owned())
                }
                Some("bad.env") => Ok("A=1\nPRONGHORN_CONFIG=p.toml\n".to_owned()),
                _ => Err(io::ErrorKind::NotFound.into()),
            },
        })
        .map_err(|error| error.to_string())
    }

    #[test]
    fn the_order_of_places() {
        let environment = [("PRONGHORN_THREADS", "3"), ("PRONGHORN_BACKLOG", "3")];
        let all = gathered(&[("config", "p.toml"), ("threads", "4")], &environment).expect("valid");
        let settings = all.given.resolve().expect("valid");
        assert_eq!((settings.threads, settings.backlog), (4, 3));
        assert_eq!(settings.head_timeout.as_secs(), 2);
    }

    #[test]
    fn a_variable_may_name_the_file() {
        let all = gathered(&[], &[("PRONGHORN_CONFIG", "p.toml")]).expect("valid");
        assert_eq!(all.given.resolve().map(|settings| settings.threads), Ok(2));
    }

    #[test]
    fn the_environment_file_adds_and_never_replaces() {
        let all = gathered(&[("config", "e.toml")], &[("A", "kept")]).expect("valid");
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let expected =
            [pair("PRONGHORN_THREADS", "5"), pair("B", "3"), pair("PRONGHORN_THRED", "1")];
        assert_eq!(all.variables, expected);
        assert_eq!(all.given.resolve().map(|settings| settings.threads), Ok(5));
        assert!(all.warnings[0].contains("PRONGHORN_THRED "), "{:?}", all.warnings);
    }

    #[test]
    fn a_variable_wins_over_the_environment_file() {
        let all = gathered(&[("env_file", "e.env")], &[("PRONGHORN_THREADS", "3")]).expect("valid");
        assert_eq!(all.given.resolve().map(|settings| settings.threads), Ok(3));
    }

    #[test]
    fn a_reason_has_no_error_number() {
        let in_use = io::Error::from_raw_os_error(rustix::io::Errno::ADDRINUSE.raw_os_error());
        assert_eq!(reason(&in_use), "Address already in use.");
        assert_eq!(reason(&io::Error::other("the name is too long")), "The name is too long.");
    }

    #[test]
    fn files_that_cannot_be_used() {
        let message = gathered(&[("config", "none.toml")], &[]).expect_err("no file");
        assert_eq!(message, "cannot read none.toml. It does not exist. Check config.");
        let message = gathered(&[("env_file", "bad.env")], &[]).expect_err("no effect");
        assert!(message.starts_with("bad.env:2: PRONGHORN_CONFIG has no effect"), "{message}");
    }
}
