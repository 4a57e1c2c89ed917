//! Turns clap's errors into one message that says what, why and how to fix it.

use clap::error::{ContextKind, ContextValue, Error, ErrorKind};
use clap::{Arg, Command};

use crate::settings::{UsageError, nearest};

use super::elsewhere;

/// The message for an error of `command`.
pub(super) fn explain(error: &Error, command: &Command) -> UsageError {
    let argument = argument(error);
    let message = match error.kind() {
        ErrorKind::UnknownArgument if argument.starts_with('-') => unknown(&argument, command),
        ErrorKind::UnknownArgument if matches!(&*argument, "true" | "false" | "True" | "False") => {
            format!(
                "{argument:?} is one argument too many. A switch takes no value: --NAME turns it on, --no-NAME turns it off."
            )
        }
        ErrorKind::UnknownArgument => {
            format!(
                "{argument:?} is one argument too many. There is one APP; a value follows its flag."
            )
        }
        ErrorKind::InvalidValue => format!(
            "{} needs a value. Write {}.",
            flag(&argument),
            argument.replace(['<', '>'], "")
        ),
        ErrorKind::TooManyValues => {
            format!("{0} takes no value. Write {0} alone.", flag(&argument))
        }
        ErrorKind::ArgumentConflict => {
            format!(
                "{argument} and {} exclude each other. Leave one out.",
                text(error, ContextKind::PriorArg)
            )
        }
        ErrorKind::InvalidUtf8 => {
            "an argument is not UTF-8 text. Rename what it names, or write it in UTF-8.".to_owned()
        }
        _ => format!("{}. `pronghorn --help` lists all flags.", error.kind()),
    };
    UsageError::new(message)
}

fn argument(error: &Error) -> String {
    text(error, ContextKind::InvalidArg)
}

fn text(error: &Error, kind: ContextKind) -> String {
    match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(", "),
        _ => String::new(),
    }
}

/// clap names an argument with its value: `--threads <N>`.
fn flag(argument: &str) -> &str {
    argument.split(' ').next().unwrap_or(argument)
}

fn unknown(argument: &str, command: &Command) -> String {
    if let Some(advice) = elsewhere::advice(argument) {
        return format!("{argument} is no flag. {advice}");
    }
    let typed = argument.trim_start_matches('-');
    let names = command.get_arguments().flat_map(long_names).collect::<Vec<_>>();
    let meant =
        if argument.starts_with("--") { nearest(typed, names.iter().copied()) } else { None };
    match meant {
        Some(meant) => format!("{argument} is no flag. Did you mean --{meant}?"),
        None => format!("{argument} is no flag. `pronghorn --help` lists all there are."),
    }
}

fn long_names(argument: &Arg) -> Vec<&str> {
    let mut names: Vec<&str> = argument.get_long().into_iter().collect();
    names.extend(argument.get_all_aliases().unwrap_or_default());
    names
}
