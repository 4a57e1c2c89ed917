//! The reference page, docs/settings.md.

use std::fmt::Write as _;

use super::{Arity, Setting, TABLE};

/// The reference page of every setting, in Markdown.
pub fn markdown() -> String {
    let mut page = INTRODUCTION.to_owned();
    let mut section = None;
    for setting in TABLE {
        if section != Some(setting.section) {
            let _ = write!(page, "\n## {}\n", setting.section.title());
            section = Some(setting.section);
        }
        let _ = write!(page, "\n{}", entry(setting));
    }
    page
}

fn entry(setting: &Setting) -> String {
    let mut text = format!("### {}\n\n{}\n\n", setting.key(), prose(setting.help));
    let _ = writeln!(text, "* command line: {}", flags(setting));
    let _ = writeln!(text, "* environment: {}", variables(setting));
    if setting.in_file {
        let _ = writeln!(text, "* file: `{}`", setting.key());
    }
    let _ = writeln!(text, "* `run()`: `{}`", setting.name);
    let _ = writeln!(text, "* value: {}", value(setting));
    let _ = writeln!(text, "* default: {}", default(setting));
    text
}

/// A doc comment's lines, each of which begins with a space.
pub(super) fn prose(help: &str) -> String {
    help.trim().to_owned()
}

fn flags(setting: &Setting) -> String {
    let key = setting.key();
    if setting.positional {
        return format!("`{}`", setting.placeholder);
    }
    let operand = if setting.arity == Arity::Switch {
        String::new()
    } else {
        format!(" {}", setting.placeholder)
    };
    let mut flags: Vec<String> =
        setting.short.iter().map(|short| format!("`-{short}{operand}`")).collect();
    flags.push(format!("`--{key}{operand}`"));
    if setting.arity == Arity::Switch {
        flags.push(format!("`--no-{key}`"));
    }
    flags.extend(setting.aliases.iter().map(|alias| format!("`--{alias}{operand}`")));
    flags.join(", ")
}

fn variables(setting: &Setting) -> String {
    let own = format!("`{}`", setting.variable());
    setting.shared_variable.map_or(own.clone(), |shared| format!("{own}, or else `{shared}`"))
}

fn value(setting: &Setting) -> String {
    let expects = (setting.expects)();
    match setting.arity {
        Arity::Many => format!(
            "{expects}; several as a repeated flag, a TOML array, with commas in the variable"
        ),
        Arity::One | Arity::Switch => expects,
    }
}

fn default(setting: &Setting) -> String {
    match setting.default {
        [] => "not set".to_owned(),
        texts => format!("`{}`", texts.join(", ")),
    }
}

const INTRODUCTION: &str = "\
# Settings

<!-- Written by `make docs` from the table of settings; change that, not this page. -->

A setting can be given in four places. A flag on the command line wins over an environment variable, a variable over
the settings file, the file over the default. `pronghorn --print-config` shows what holds and where it comes from, as a
file that can be fed back; `pronghorn --check-config` also imports the application.

* A **size** is a number of bytes, or a number with `k`, `m`, `g` or `KiB`, `MiB`, `GiB`, all powers of 1024.
* A **duration** is a number of seconds, or a number with `ms`, `s`, `m` or `h`.
* An empty variable is as good as none.
";

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_page_is_up_to_date() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/settings.md");
        let page = fs::read_to_string(path).expect("docs/settings.md can be read");
        assert!(page == markdown(), "docs/settings.md is out of date: run `make docs`");
    }

    #[test]
    fn an_entry_has_every_name() {
        let workers =
            TABLE.iter().find(|setting| setting.name == "workers").map(entry).expect("declared");
        for part in [
            "`-w N`, `--workers N`",
            "`PRONGHORN_WORKERS`, or else `WEB_CONCURRENCY`",
            "default: `1`",
        ] {
            assert!(workers.contains(part), "{part} is not in {workers}");
        }
        let switch = TABLE
            .iter()
            .find(|setting| setting.name == "date_header")
            .map(entry)
            .expect("declared");
        assert!(switch.contains("`--date-header`, `--no-date-header`"), "{switch}");
    }
}
