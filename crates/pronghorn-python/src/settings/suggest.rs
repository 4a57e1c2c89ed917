//! "Did you mean": the known name closest to a misspelt one.

/// The candidate closest to `typed`, if one is close enough to be meant.
///
/// Case, `-` and `_` do not count as differences: `MAX_BODY` is as good as `max-body`.
pub fn nearest<'a>(typed: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let typed = folded(typed);
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&typed, &folded(candidate)), candidate))
        .filter(|(distance, candidate)| *distance <= allowed(candidate))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

fn folded(name: &str) -> String {
    name.to_ascii_lowercase().replace('_', "-")
}

/// One slip in three letters, as more is another word; never more than four.
fn allowed(candidate: &str) -> usize {
    (candidate.chars().count() / 3).min(4)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    const NAMES: [&str; 4] = ["threads", "max-body", "bind", "body-timeout"];

    #[test]
    fn finds_a_name_with_a_slip() {
        assert_eq!(nearest("thraeds", NAMES), Some("threads"));
        assert_eq!(nearest("bnid", NAMES), Some("bind"));
        assert_eq!(nearest("body-time-out", NAMES), Some("body-timeout"));
    }

    #[test]
    fn takes_case_and_underscores_as_equal() {
        assert_eq!(nearest("MAX_BODY", NAMES), Some("max-body"));
    }

    #[test]
    fn stays_silent_when_nothing_is_close() {
        assert_eq!(nearest("certfile", NAMES), None);
        assert_eq!(nearest("xyz", NAMES), None);
        assert_eq!(nearest("ap", ["a", "app"]), Some("app"));
    }
}
