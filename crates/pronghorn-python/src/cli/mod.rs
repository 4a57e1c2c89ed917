//! The command line: reads arguments, explains mistakes, writes completions and the man page.

mod command;
mod elsewhere;
mod explain;
mod generate;

use std::ffi::OsString;

use clap::ArgMatches;

use crate::settings::{Arity, Given, Origin, TABLE, UsageError};

pub use command::command;
pub use elsewhere::advice;
pub use generate::{completions, man_page};

/// What the command is asked to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Write a text to standard output and end.
    Print(String),
    /// Write the settings that hold and end.
    PrintConfig,
    /// Check the settings, import the application and end.
    CheckConfig,
    /// Serve.
    Serve,
}

/// Reads the arguments, without the program's name.
///
/// Pure: no file is read, and no setting is judged.
///
/// # Errors
/// A flag that does not exist or lacks its value, with a suggestion.
pub fn parse(arguments: Vec<OsString>) -> Result<(Action, Given), UsageError> {
    let command = command();
    match command.clone().try_get_matches_from(arguments) {
        Ok(matches) => Ok((action(&matches)?, given(&matches))),
        Err(error) if !error.use_stderr() => {
            Ok((Action::Print(error.render().to_string()), Given::default()))
        }
        Err(error) => Err(explain::explain(&error, &command)),
    }
}

fn action(matches: &ArgMatches) -> Result<Action, UsageError> {
    if let Some(shell) = matches.get_one::<String>(command::COMPLETIONS) {
        return completions(shell).map(Action::Print);
    }
    Ok(match matches {
        _ if matches.get_flag(command::MAN) => Action::Print(man_page()),
        _ if matches.get_flag(command::REFERENCE) => Action::Print(crate::settings::markdown()),
        _ if matches.get_flag(command::PRINT_CONFIG) => Action::PrintConfig,
        _ if matches.get_flag(command::CHECK_CONFIG) => Action::CheckConfig,
        _ => Action::Serve,
    })
}

fn given(matches: &ArgMatches) -> Given {
    let mut given = Given::default();
    for setting in TABLE {
        let texts = match setting.arity {
            Arity::Switch => switch(matches, setting.name),
            Arity::One | Arity::Many => values(matches, setting.name),
        };
        if !texts.is_empty() {
            given.set(setting, texts, Origin::Flag);
        }
    }
    given
}

fn values(matches: &ArgMatches, name: &str) -> Vec<String> {
    matches.get_many::<String>(name).into_iter().flatten().cloned().collect()
}

/// The two flags of a switch override each other, so at most one of them is left.
fn switch(matches: &ArgMatches, name: &str) -> Vec<String> {
    if matches.get_flag(name) {
        vec!["true".to_owned()]
    } else if matches.get_flag(&command::negation(name)) {
        vec!["false".to_owned()]
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(arguments: &[&str]) -> Result<(Action, Given), String> {
        let arguments = arguments.iter().map(Into::into).collect();
        parse(arguments).map_err(|error| error.to_string())
    }

    fn texts(arguments: &[&str], name: &str) -> Vec<String> {
        let (_, given) = parsed(arguments).expect("valid");
        given.get(name).map(|entry| entry.texts.clone()).unwrap_or_default()
    }

    fn printed(arguments: &[&str]) -> String {
        match parsed(arguments) {
            Ok((Action::Print(text), _)) => text,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn nothing_typed_is_nothing_given() {
        assert_eq!(parsed(&[]), Ok((Action::Serve, Given::default())));
    }

    #[test]
    fn flags_in_each_form() {
        for arguments in
            [&["-b", ":1", "-b:2"][..], &["--bind", ":1", "--bind=:2"], &["-b=:1", "-b=:2"]]
        {
            assert_eq!(texts(arguments, "bind"), [":1", ":2"], "{arguments:?}");
        }
        assert_eq!(texts(&["--threads", "2", "wiki:app"], "app"), ["wiki:app"]);
        assert_eq!(texts(&["--access-log", "-"], "access_log"), ["-"]);
        assert_eq!(texts(&["--threads", "-1"], "threads"), ["-1"]);
    }

    #[test]
    fn a_repeated_flag_that_takes_one_value_is_the_last() {
        assert_eq!(texts(&["--threads", "2", "--threads=3"], "threads"), ["3"]);
    }

    #[test]
    fn the_flags_of_other_servers() {
        assert_eq!(
            texts(&["--limit-request-field_size", "1k"], "limit_request_field_size"),
            ["1k"]
        );
        assert_eq!(texts(&["--timeout-keep-alive", "5"], "keep_alive"), ["5"]);
        assert_eq!(texts(&["--worker-connections", "5"], "max_connections"), ["5"]);
    }

    #[test]
    fn the_last_of_a_switch_counts() {
        assert_eq!(texts(&["--no-date-header"], "date_header"), ["false"]);
        assert_eq!(texts(&["--no-date-header", "--date-header"], "date_header"), ["true"]);
        assert_eq!(texts(&["--date-header", "--no-date-header"], "date_header"), ["false"]);
    }

    #[test]
    fn actions() {
        let action = |arguments: &[&str]| parsed(arguments).map(|(action, _)| action);
        assert_eq!(action(&["--print-config"]), Ok(Action::PrintConfig));
        assert_eq!(action(&["wiki", "--check-config"]), Ok(Action::CheckConfig));
        assert_eq!(printed(&["--version"]), concat!("pronghorn ", env!("CARGO_PKG_VERSION"), "\n"));
        assert_eq!(printed(&["-V"]), printed(&["--version"]));
        assert_eq!(printed(&["--reference"]), crate::settings::markdown());
    }

    #[test]
    fn help_has_every_setting() {
        let help = printed(&["--help"]);
        for setting in TABLE.iter().filter(|setting| !setting.positional) {
            assert!(help.contains(&format!("--{}", setting.key())), "{}", setting.name);
        }
        assert!(help.contains("[default: 8KiB]"), "{help}");
    }

    #[test]
    fn every_shell_is_served_and_others_are_explained() {
        for shell in ["bash", "zsh", "fish"] {
            assert!(printed(&["--completions", shell]).contains("promote-after"), "{shell}");
        }
        assert_eq!(
            parsed(&["--completions", "tcsh"]),
            Err("there are no completions for \"tcsh\". Write --completions bash, fish or zsh."
                .to_owned())
        );
    }

    #[test]
    fn the_man_page_has_every_section() {
        let page = printed(&["--man"]);
        for part in [".TH pronghorn 1", ".SH SYNOPSIS", "THREADS AND WORKERS", "promote\\-after"] {
            assert!(page.contains(part), "{part} is not in the page");
        }
    }

    #[test]
    fn mistakes_are_explained() {
        for (arguments, message) in [
            (&["--thread", "2"][..], "--thread is no flag. Did you mean --threads?"),
            (&["--max_body=1"], "--max_body is no flag. Did you mean --max-body?"),
            (&["--zone", "x"], "--zone is no flag. `pronghorn --help` lists all there are."),
            (
                &["-k", "gevent"],
                "-k is no flag. There is one kind of worker: it finds out whether the application is ASGI, and runs WSGI on --threads. Leave it out.",
            ),
            (&["-x"], "-x is no flag. `pronghorn --help` lists all there are."),
            (&["--threads"], "--threads needs a value. Write --threads N."),
            (&["--factory=yes"], "--factory takes no value. Write --factory alone."),
            (
                &["a", "b"],
                "\"b\" is one argument too many. There is one APP; a value follows its flag.",
            ),
            (
                &["--print-config", "--check-config"],
                "--print-config and --check-config exclude each other. Leave one out.",
            ),
        ] {
            assert_eq!(parsed(arguments).map(|_| ()), Err(message.to_owned()), "{arguments:?}");
        }
    }

    #[test]
    fn what_is_not_utf8_is_explained() {
        use std::os::unix::ffi::OsStringExt as _;
        let message = parse(vec![OsString::from_vec(b"--chdir=\xff".to_vec())])
            .expect_err("not UTF-8")
            .to_string();
        assert!(message.contains("is not UTF-8"), "{message}");
    }
}
