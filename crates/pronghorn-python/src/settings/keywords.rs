//! The keywords of `pronghorn.run()`.

use super::given::{Given, Origin};
use super::table::TABLE;
use super::{UsageError, nearest};

/// Notes keywords, each with the texts of its value.
///
/// # Errors
/// A keyword that is no setting; `advice` knows flags of other servers, and what to write instead.
pub fn from_keywords(
    keywords: Vec<(String, Vec<String>)>,
    advice: impl Fn(&str) -> Option<&'static str>,
) -> Result<Given, UsageError> {
    let mut given = Given::default();
    for (name, texts) in keywords {
        let setting = TABLE.iter().find(|setting| setting.name == name);
        let setting = setting.ok_or_else(|| unknown(&name, &texts, &advice))?;
        given.set(setting, texts, Origin::Keyword);
    }
    Ok(given)
}

fn unknown(
    name: &str,
    texts: &[String],
    advice: &impl Fn(&str) -> Option<&'static str>,
) -> UsageError {
    let key = name.replace('_', "-");
    let other_name = TABLE.iter().find(|setting| setting.aliases.contains(&&*key));
    let turned_off = || advice(&format!("--no-{key}")).filter(|_| *texts == ["False"]);
    let known_elsewhere = || turned_off().or_else(|| advice(&format!("--{key}")));
    let hint = if let Some(setting) = other_name {
        format!("Write {}.", setting.name)
    } else if let Some(advice) = known_elsewhere() {
        with_keywords(advice)
    } else if let Some(meant) = nearest(name, TABLE.iter().map(|setting| setting.name)) {
        format!("Did you mean {meant}?")
    } else {
        "`pronghorn --help` lists all there are, with - for _.".to_owned()
    };
    UsageError::new(format!("{name:?} is no setting. {hint}"))
}

/// The text with the keywords in the place of flags.
fn with_keywords(advice: &str) -> String {
    let words = advice.split(' ').map(|word| match word.strip_prefix("--") {
        Some(flag) => flag.replace('-', "_"),
        None => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_settings() {
        let given = from_keywords(vec![("threads".to_owned(), vec!["2".to_owned()])], |_| None)
            .expect("known");
        assert_eq!(given.resolve().map(|settings| settings.threads), Ok(2));
    }

    #[test]
    fn a_misspelt_keyword_is_suggested() {
        assert_eq!(told("thread", ""), "\"thread\" is no setting. Did you mean threads?");
    }

    #[test]
    fn what_another_server_calls_it_is_told_with_our_name() {
        assert_eq!(
            told("limit_concurrency", "5"),
            "\"limit_concurrency\" is no setting. Write max_concurrency."
        );
        assert_eq!(told("colors", "True"), "\"colors\" is no setting. Write no_such thing-or-so.");
        assert_eq!(told("colors", "False"), "\"colors\" is no setting. Leave it out.");
    }

    fn told(name: &str, text: &str) -> String {
        let advice = |flag: &str| match flag {
            "--colors" => Some("Write --no-such thing-or-so."),
            "--no-colors" => Some("Leave it out."),
            _ => None,
        };
        let error = from_keywords(vec![(name.to_owned(), vec![text.to_owned()])], advice);
        error.expect_err("unknown").to_string()
    }
}
