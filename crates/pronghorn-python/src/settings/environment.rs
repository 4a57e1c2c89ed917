//! `PRONGHORN_*` variables.

use super::declare::VARIABLE_PREFIX;
use super::given::{Given, Origin};
use super::table::TABLE;
use super::{Arity, Setting, nearest};

/// Reads the settings among `variables`, each with its origin; a variable with an empty value is as good as none.
pub(super) fn read(variables: &[(String, String, Origin)]) -> Given {
    let mut given = Given::default();
    for setting in TABLE {
        let own = setting.variable();
        let found = lookup(variables, &own).or_else(|| lookup(variables, setting.shared_variable?));
        if let Some((_, text, origin)) = found {
            given.set(setting, texts(setting, text), origin.clone());
        }
    }
    given
}

/// A warning for each variable that looks like a setting and is none.
pub(super) fn unknown(variables: &[(String, String, Origin)]) -> Vec<String> {
    let is_known = |name: &str| TABLE.iter().any(|setting| setting.variable() == name);
    let names = variables.iter().map(|(name, ..)| name.as_str());
    let ours = names.filter_map(|name| Some((name, name.strip_prefix(VARIABLE_PREFIX)?)));
    ours.filter(|(name, _)| !is_known(name)).map(|(name, rest)| warning(name, rest)).collect()
}

fn lookup<'a>(
    variables: &'a [(String, String, Origin)],
    name: &str,
) -> Option<&'a (String, String, Origin)> {
    variables.iter().find(|(known, text, _)| known == name && !text.is_empty())
}

fn texts(setting: &Setting, text: &str) -> Vec<String> {
    match setting.arity {
        Arity::Many => text.split(',').map(|part| part.trim().to_owned()).collect(),
        Arity::One | Arity::Switch => vec![text.to_owned()],
    }
}

fn warning(name: &str, without_prefix: &str) -> String {
    let meant = nearest(without_prefix, TABLE.iter().map(|setting| setting.name));
    let hint = match TABLE.iter().find(|setting| Some(setting.name) == meant) {
        Some(setting) => format!("Did you mean {}?", setting.variable()),
        None => "See `pronghorn --help` for those there are.".to_owned(),
    };
    format!("the variable {name} is no setting and is ignored. {hint}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> Vec<(String, String, Origin)> {
        let entry = |(name, text): &(&str, &str)| {
            ((*name).to_owned(), (*text).to_owned(), Origin::Variable((*name).to_owned()))
        };
        pairs.iter().map(entry).collect()
    }

    #[test]
    fn reads_each_type() {
        let given = read(&variables(&[
            ("PRONGHORN_THREADS", "4"),
            ("PRONGHORN_BIND", "127.0.0.1:1, [::1]:2"),
            ("PRONGHORN_DATE_HEADER", "no"),
            ("HOME", "/"),
        ]));
        let settings = given.resolve().expect("valid");
        assert_eq!((settings.threads, settings.bind.len(), settings.date_header), (4, 2, false));
    }

    #[test]
    fn an_empty_value_is_none() {
        assert_eq!(read(&variables(&[("PRONGHORN_THREADS", "")])), Given::default());
    }

    #[test]
    fn its_own_variable_wins_over_the_shared_one() {
        let both = variables(&[("WEB_CONCURRENCY", "4"), ("PRONGHORN_WORKERS", "1")]);
        let workers = |given: Given| given.resolve().map(|settings| settings.workers);
        assert_eq!(workers(read(&both)), Ok(1));
        assert_eq!(workers(read(&variables(&[("WEB_CONCURRENCY", "4")]))), Ok(4));
    }

    #[test]
    fn an_unknown_variable_is_told_with_a_suggestion() {
        let warnings = unknown(&variables(&[
            ("PRONGHORN_THREAD", "4"),
            ("PRONGHORN_X", ""),
            ("THREADS", "4"),
        ]));
        assert_eq!(
            warnings,
            [
                "the variable PRONGHORN_THREAD is no setting and is ignored. Did you mean PRONGHORN_THREADS?",
                "the variable PRONGHORN_X is no setting and is ignored. See `pronghorn --help` for those there are.",
            ]
        );
    }
}
