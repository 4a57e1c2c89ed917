//! The settings file: TOML, one key a setting, no tables.

use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::error::sentence;
use super::given::{Given, Origin};
use super::table::TABLE;
use super::{Arity, Setting, UsageError, nearest};

/// Reads the text of the settings file at `path`.
///
/// # Errors
/// What is not TOML, an unknown key, a table or a value that no setting can have, each with its line.
pub(super) fn read(path: &Path, text: &str) -> Result<Given, UsageError> {
    let document = DeTable::parse(text).map_err(|error| syntax(path, text, &error))?;
    let mut given = Given::default();
    for (key, value) in document.get_ref() {
        let line = line_of(text, key.span().start);
        let place = format!("{}:{line}: ", path.display());
        let setting =
            known(key.get_ref()).map_err(|reason| UsageError::new(place.clone() + &reason))?;
        let texts = texts(setting, value.get_ref()).ok_or_else(|| {
            let expects = (setting.expects)();
            UsageError::new(format!(
                "{place}{key} has a value of the wrong type. Expected {expects}.",
                key = key.get_ref()
            ))
        })?;
        given.set(setting, texts, Origin::File(path.to_owned(), line));
    }
    Ok(given)
}

fn known(key: &str) -> Result<&'static Setting, String> {
    match TABLE.iter().find(|setting| setting.key() == key) {
        Some(setting) if setting.in_file => Ok(setting),
        Some(_) => Err(format!("{key} cannot be set in a settings file. Give it as --{key}.")),
        None => Err(unknown(key)),
    }
}

fn unknown(key: &str) -> String {
    let keys: Vec<String> =
        TABLE.iter().filter(|setting| setting.in_file).map(Setting::key).collect();
    match nearest(key, keys.iter().map(String::as_str)) {
        Some(meant) => format!("{key:?} is no setting. Did you mean {meant}?"),
        None => format!("{key:?} is no setting. `pronghorn --print-config` lists all there are."),
    }
}

fn texts(setting: &Setting, value: &DeValue<'_>) -> Option<Vec<String>> {
    match value {
        DeValue::Array(items) if setting.arity == Arity::Many => {
            items.iter().map(|item| scalar(setting, item.get_ref())).collect()
        }
        _ => scalar(setting, value).map(|text| vec![text]),
    }
}

/// The text a flag would have. A switch is a boolean and nothing else is; a number may stand for any text that
/// is a number.
fn scalar(setting: &Setting, value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::Boolean(on) if setting.arity == Arity::Switch => Some(on.to_string()),
        _ if setting.arity == Arity::Switch => None,
        DeValue::String(text) => Some(text.clone().into_owned()),
        DeValue::Integer(number) if number.radix() == 10 => Some(number.as_str().to_owned()),
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        _ => None,
    }
}

fn syntax(path: &Path, text: &str, error: &toml::de::Error) -> UsageError {
    let line = line_of(text, error.span().map_or(0, |span| span.start));
    let reason = sentence(error.message());
    UsageError::new(format!("{}:{line}: this is not TOML. {reason}", path.display()))
}

fn line_of(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(text: &str) -> Result<Given, String> {
        read(Path::new("p.toml"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn every_type_of_value() {
        let text = "bind = ['[::1]:80', 'unix:/s']\nthreads = 4\nhead-timeout = 2.5\nmax-body = '1MiB'\n\
                    server-header = false\nbody-timeout = 1_0\n";
        let settings = given(text).expect("TOML").resolve().expect("valid");
        assert_eq!(settings.bind.len(), 2);
        assert_eq!(settings.threads, 4);
        assert_eq!(settings.head_timeout.as_millis(), 2500);
        assert_eq!(settings.body_timeout.as_secs(), 10);
        assert_eq!(settings.max_body, 1 << 20);
        assert!(!settings.server_header);
    }

    #[test]
    fn one_address_needs_no_brackets() {
        let settings = given("bind = ':80'").expect("TOML").resolve().expect("valid");
        assert_eq!(settings.bind.len(), 1);
    }

    #[test]
    fn each_entry_knows_its_line() {
        let given = given("# a\n\nthreads = 4\n").expect("TOML");
        let origin = given.get("threads").map(|entry| entry.origin.clone());
        assert_eq!(origin, Some(Origin::File("p.toml".into(), 3)));
    }

    #[test]
    fn mistakes_have_a_line_and_a_suggestion() {
        for (text, message) in [
            ("\nthraeds = 1", "p.toml:2: \"thraeds\" is no setting. Did you mean threads?"),
            ("max_body = 1", "p.toml:1: \"max_body\" is no setting. Did you mean max-body?"),
            (
                "certfile = 'x'",
                "p.toml:1: \"certfile\" is no setting. `pronghorn --print-config` lists all there are.",
            ),
            (
                "config = 'x'",
                "p.toml:1: config cannot be set in a settings file. Give it as --config.",
            ),
            (
                "threads = true",
                "p.toml:1: threads has a value of the wrong type. Expected a whole number from 1 to 1024.",
            ),
            (
                "threads = [1]",
                "p.toml:1: threads has a value of the wrong type. Expected a whole number from 1 to 1024.",
            ),
            (
                "factory = 'yes'",
                "p.toml:1: factory has a value of the wrong type. Expected true or false.",
            ),
            (
                "[limits]\n",
                "p.toml:1: \"limits\" is no setting. `pronghorn --print-config` lists all there are.",
            ),
        ] {
            assert_eq!(given(text), Err(message.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_is_not_toml_has_a_line() {
        let message = given("threads = 1\nbind = [").expect_err("not TOML");
        assert!(message.starts_with("p.toml:2: this is not TOML. "), "{message}");
    }
}
