//! The clap command, built from the table of settings.

use clap::{Arg, ArgAction, ArgGroup, Command};

use crate::settings::{Arity, Setting, TABLE};

/// The command with a flag for every setting, and the flags that ask for something else than serving.
pub fn command() -> Command {
    let actions = actions();
    let group =
        ArgGroup::new("actions").args(actions.iter().map(Arg::get_id).cloned().collect::<Vec<_>>());
    Command::new("pronghorn")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Serve a WSGI or ASGI application over HTTP/1.1 and WebSocket.")
        .after_help(AFTER_HELP)
        .no_binary_name(true)
        .disable_version_flag(true)
        .disable_help_flag(true)
        .args(TABLE.iter().flat_map(arguments))
        .args(actions)
        .group(group)
        .arg(
            Arg::new("version")
                .short('V')
                .long("version")
                .help("Print the version.")
                .action(ArgAction::Version),
        )
        .arg(
            Arg::new("help")
                .short('h')
                .long("help")
                .help("Print this help.")
                .action(ArgAction::HelpShort),
        )
}

/// The identifier of the flag that turns a switch off.
pub(super) fn negation(name: &str) -> String {
    format!("no_{name}")
}

pub(super) const COMPLETIONS: &str = "completions";
pub(super) const MAN: &str = "man";
pub(super) const REFERENCE: &str = "reference";
pub(super) const PRINT_CONFIG: &str = "print_config";
pub(super) const CHECK_CONFIG: &str = "check_config";

fn arguments(setting: &'static Setting) -> Vec<Arg> {
    let argument = Arg::new(setting.name).help(help(setting)).help_heading(setting.section.title());
    if setting.positional {
        return vec![argument.value_name(setting.placeholder)];
    }
    let argument = argument.long(setting.key()).aliases(setting.aliases);
    let argument = match setting.short {
        Some(short) => argument.short(short),
        None => argument,
    };
    match setting.arity {
        Arity::Switch => switch(setting, argument),
        Arity::One => {
            vec![valued(setting, argument).action(ArgAction::Set).overrides_with(setting.name)]
        }
        Arity::Many => vec![valued(setting, argument).action(ArgAction::Append)],
    }
}

/// `--threads -1` is a mistake in the value, not a flag `-1`.
fn valued(setting: &Setting, argument: Arg) -> Arg {
    argument.value_name(setting.placeholder).allow_negative_numbers(true)
}

/// Both flags of a switch work; help shows a switch that is off by default only with the flag that turns it on.
fn switch(setting: &'static Setting, on: Arg) -> Vec<Arg> {
    let off_name = negation(setting.name);
    let off = Arg::new(off_name.clone())
        .long(format!("no-{}", setting.key()))
        .help(format!("Turn {} off.", setting.key()))
        .help_heading(setting.section.title())
        .action(ArgAction::SetTrue)
        .hide(setting.default == ["false"])
        .overrides_with(off_name.clone());
    let on = on.action(ArgAction::SetTrue).overrides_with(setting.name);
    vec![on.overrides_with(off_name), off]
}

fn help(setting: &Setting) -> String {
    let help = setting.help.trim();
    match setting.default {
        [] => help.to_owned(),
        texts => format!("{help} [default: {}]", texts.join(", ")),
    }
}

fn actions() -> Vec<Arg> {
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name.replace('_', "-"))
            .help(help)
            .action(ArgAction::SetTrue)
            .help_heading(HEADING)
    };
    vec![
        flag(CHECK_CONFIG, "Check the settings, import the application, and end."),
        flag(
            PRINT_CONFIG,
            "Print the settings that hold and where each comes from, as a settings file.",
        ),
        flag(REFERENCE, "Print the reference page of all settings, in Markdown."),
        flag(MAN, "Print the manual page."),
        Arg::new(COMPLETIONS)
            .long(COMPLETIONS)
            .value_name("SHELL")
            .help("Print completions for bash, fish or zsh.")
            .help_heading(HEADING),
    ]
}

const HEADING: &str = "Instead of serving";

const AFTER_HELP: &str = "\
Every setting is also a variable (--max-body is PRONGHORN_MAX_BODY) and a key of the settings file (max-body).
A flag wins over a variable, a variable over the file.

TERM lets running requests end, for up to --graceful-timeout; INT cuts them after a second; a second INT stops at once.";
