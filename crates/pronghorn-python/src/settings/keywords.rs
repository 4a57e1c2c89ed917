//! The keywords of `pronghorn.run()`.

use super::given::{Given, Origin};
use super::table::TABLE;
use super::{UsageError, nearest};

/// Notes keywords, each with the texts of its value.
///
/// # Errors
/// A keyword that is no setting.
pub fn from_keywords(keywords: Vec<(String, Vec<String>)>) -> Result<Given, UsageError> {
    let mut given = Given::default();
    for (name, texts) in keywords {
        let setting =
            TABLE.iter().find(|setting| setting.name == name).ok_or_else(|| unknown(&name))?;
        given.set(setting, texts, Origin::Keyword);
    }
    Ok(given)
}

fn unknown(name: &str) -> UsageError {
    let hint = match nearest(name, TABLE.iter().map(|setting| setting.name)) {
        Some(meant) => format!("Did you mean {meant}?"),
        None => "`pronghorn --help` lists all there are, with - for _.".to_owned(),
    };
    UsageError::new(format!("{name:?} is no setting. {hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_settings() {
        let given =
            from_keywords(vec![("threads".to_owned(), vec!["2".to_owned()])]).expect("known");
        assert_eq!(given.resolve().map(|settings| settings.threads), Ok(2));
    }

    #[test]
    fn a_misspelt_keyword_is_suggested() {
        let error = from_keywords(vec![("thread".to_owned(), vec![])]).expect_err("unknown");
        assert_eq!(error.to_string(), "\"thread\" is no setting. Did you mean threads?");
    }
}
