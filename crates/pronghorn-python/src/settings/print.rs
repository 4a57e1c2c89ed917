//! Writes settings as a file that can be fed back.

use std::fmt::Write as _;

use super::given::{Given, Origin};
use super::{Arity, Setting, TABLE};

/// Every setting in TOML as it was typed, each with where it comes from.
pub fn toml_text(given: &Given) -> String {
    let mut text = String::new();
    let mut section = None;
    for setting in TABLE {
        if section != Some(setting.section) {
            let gap = if section.is_some() { "\n" } else { "" };
            let _ = writeln!(text, "{gap}# {}", setting.section.title());
            section = Some(setting.section);
        }
        let _ = writeln!(text, "{}", line(setting, given));
    }
    text
}

fn line(setting: &Setting, given: &Given) -> String {
    let key = setting.key();
    let (texts, origin) = match given.get(setting.name) {
        Some(entry) => (entry.texts.clone(), origin(setting, &entry.origin)),
        None => {
            (setting.default.iter().map(|text| (*text).to_owned()).collect(), "default".to_owned())
        }
    };
    if texts.is_empty() && origin == "default" {
        return format!("# {key} is not set");
    }
    let marker = if setting.in_file { "" } else { "# " };
    format!("{marker}{key} = {}  # {origin}", setting.toml(&texts))
}

fn origin(setting: &Setting, origin: &Origin) -> String {
    match origin {
        Origin::Flag if setting.positional => "command line".to_owned(),
        Origin::Flag => format!("--{}", setting.key()),
        Origin::Keyword => "run()".to_owned(),
        Origin::Variable(name) => name.clone(),
        Origin::EnvFile(path, line, name) => format!("{name} in {}:{line}", path.display()),
        Origin::File(path, line) => format!("{}:{line}", path.display()),
    }
}

impl Setting {
    /// The value that the settings file would have for these texts, whether or not they are valid.
    pub(super) fn toml(&self, texts: &[String]) -> String {
        match (self.arity, texts) {
            (Arity::Many, _) => {
                let items: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
                format!("[{}]", items.join(", "))
            }
            (Arity::Switch, [text]) => switch(text),
            (_, [text]) if self.bare && is_number(text) => text.clone(),
            _ => quoted(&texts.join(",")),
        }
    }
}

/// Whether TOML reads the text as a number: it forbids leading zeros.
fn is_number(text: &str) -> bool {
    text == "0" || (!text.starts_with(['0', '+']) && text.parse::<u32>().is_ok())
}

/// A switch may have been written `yes` in the environment, which TOML has no word for.
fn switch(text: &str) -> String {
    match text.to_ascii_lowercase().as_str() {
        "yes" | "on" | "1" | "true" => "true".to_owned(),
        "no" | "off" | "0" | "false" => "false".to_owned(),
        _ => quoted(text),
    }
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::settings::{file, from_keywords};

    fn sample() -> Given {
        let keyword = |name: &str, texts: &[&str]| {
            (name.to_owned(), texts.iter().map(|text| (*text).to_owned()).collect())
        };
        from_keywords(
            vec![
                keyword("app", &["wiki:make()"]),
                keyword("bind", &["[::1]:1", "unix:/a \"b\"\\c"]),
                keyword("threads", &["04"]),
                keyword("date_header", &["0"]),
                keyword("server_header", &["Yes"]),
                keyword("config", &["p.toml"]),
            ],
            |_| None,
        )
        .expect("known")
    }

    #[test]
    fn each_line_says_where_it_comes_from() {
        let text = toml_text(&sample());
        for line in [
            "# Application\napp = \"wiki:make()\"  # run()\n",
            "\n\n# Listening\n",
            "\nthreads = \"04\"  # run()\n",
            "\ndate-header = false  # run()\n",
            "\nserver-header = true  # run()\n",
            "\n# config = \"p.toml\"  # run()\n",
            "\n# uds is not set\n",
            "\nmax-body = \"100MiB\"  # default\n",
            "\nbacklog = 2048  # default\n",
        ] {
            assert!(text.contains(line), "{line:?} is not in {text}");
        }
    }

    #[test]
    fn fed_back_it_means_the_same() {
        let mut expected = sample().resolve().expect("valid");
        let again = file::read(Path::new("p.toml"), &toml_text(&sample())).expect("TOML");
        expected.config = None;
        assert_eq!(again.resolve(), Ok(expected));
    }

    #[test]
    fn the_defaults_can_be_fed_back() {
        let again = file::read(Path::new("p.toml"), &toml_text(&Given::default())).expect("TOML");
        assert_eq!(again.resolve(), Given::default().resolve());
    }
}
