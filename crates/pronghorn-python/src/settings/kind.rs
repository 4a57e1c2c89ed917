//! The types a setting can have: what a person may write, and what it means.

use std::path::PathBuf;
use std::time::Duration;

use log::LevelFilter;

use super::declare::Arity;
use super::{Address, AppSpec, nearest, units};

/// A type of setting; [`super::table`] names one for each.
pub trait Kind {
    /// What the setting means once resolved.
    type Out;
    /// How many texts it takes.
    const ARITY: Arity;
    /// Whether TOML writes it without quotes.
    const BARE: bool = false;

    /// What may be written, for the reference page and for messages: "a whole number from 1 to 1024".
    fn described() -> String;

    /// What `texts` mean; empty when the setting is nowhere set and has no default.
    ///
    /// # Errors
    /// Says what was expected.
    fn resolve(texts: &[String]) -> Result<Self::Out, String>;
}

/// A kind whose value is one text.
pub trait Single {
    /// What one text means.
    type Out;
    /// See [`Kind::ARITY`].
    const ARITY: Arity = Arity::One;
    /// See [`Kind::BARE`].
    const BARE: bool = false;

    /// See [`Kind::described`].
    fn expects() -> String;

    /// What the text means.
    ///
    /// # Errors
    /// Says what was expected.
    fn parse(text: &str) -> Result<Self::Out, String>;
}

impl<K: Single> Kind for K {
    type Out = K::Out;
    const ARITY: Arity = K::ARITY;
    const BARE: bool = K::BARE;

    fn described() -> String {
        K::expects()
    }

    fn resolve(texts: &[String]) -> Result<K::Out, String> {
        match texts {
            [text] => K::parse(text),
            _ => Err(format!("expected {}", K::expects())),
        }
    }
}

/// A setting that may stay unset.
pub struct Maybe<K>(K);

impl<K: Single> Kind for Maybe<K> {
    type Out = Option<K::Out>;
    const ARITY: Arity = K::ARITY;
    const BARE: bool = K::BARE;

    fn described() -> String {
        K::expects()
    }

    fn resolve(texts: &[String]) -> Result<Self::Out, String> {
        if texts.is_empty() { Ok(None) } else { <K as Kind>::resolve(texts).map(Some) }
    }
}

/// A setting that may be given several times.
pub struct Each<K>(K);

impl<K: Single> Kind for Each<K> {
    type Out = Vec<K::Out>;
    const ARITY: Arity = Arity::Many;
    const BARE: bool = K::BARE;

    fn described() -> String {
        K::expects()
    }

    fn resolve(texts: &[String]) -> Result<Self::Out, String> {
        texts.iter().map(|text| K::parse(text)).collect()
    }
}

/// A whole number from `MIN` to `MAX`.
pub struct Count<const MIN: u32, const MAX: u32>;

impl<const MIN: u32, const MAX: u32> Single for Count<MIN, MAX> {
    type Out = u32;
    const BARE: bool = true;

    fn expects() -> String {
        match MAX {
            u32::MAX => format!("a whole number from {MIN}"),
            _ => format!("a whole number from {MIN} to {MAX}"),
        }
    }

    fn parse(text: &str) -> Result<u32, String> {
        let digits = text.bytes().all(|b| b.is_ascii_digit());
        text.parse()
            .ok()
            .filter(|number| digits && (MIN..=MAX).contains(number))
            .ok_or_else(|| format!("expected {}", Self::expects()))
    }
}

/// A size from `MIN` to `MAX` bytes.
pub struct Size<const MIN: u64, const MAX: u64 = { u64::MAX }>;

impl<const MIN: u64, const MAX: u64> Single for Size<MIN, MAX> {
    type Out = u64;

    fn expects() -> String {
        let example = "a size such as 8192, 64k or 1MiB";
        let (least, most) = (units::size_text(MIN), units::size_text(MAX));
        match (MIN, MAX) {
            (0, u64::MAX) => example.to_owned(),
            (_, u64::MAX) => format!("{example}, at least {least}"),
            _ => format!("{example}, from {least} to {most}"),
        }
    }

    fn parse(text: &str) -> Result<u64, String> {
        match units::size(text)? {
            bytes if bytes < MIN => Err(format!("expected at least {}", units::size_text(MIN))),
            bytes if bytes > MAX => Err(format!("expected at most {}", units::size_text(MAX))),
            bytes => Ok(bytes),
        }
    }
}

/// A duration of at least `MIN` milliseconds and at most `MAX` hours: a day, unless it needs no timer of a connection.
pub struct Span<const MIN: u64, const MAX: u64 = 24>;

impl<const MIN: u64, const MAX: u64> Single for Span<MIN, MAX> {
    type Out = Duration;

    fn expects() -> String {
        format!("a duration such as 10, 10s, 500ms or 1m, {}", Self::range())
    }

    fn parse(text: &str) -> Result<Duration, String> {
        let span = units::duration(text)?;
        if (Duration::from_millis(MIN)..=Duration::from_secs(MAX * 3600)).contains(&span) {
            return Ok(span);
        }
        Err(format!("expected a duration {}", Self::range()))
    }
}

impl<const MIN: u64, const MAX: u64> Span<MIN, MAX> {
    fn range() -> String {
        match MIN {
            0 => format!("up to {MAX}h"),
            _ => format!("from {} to {MAX}h", units::duration_text(Duration::from_millis(MIN))),
        }
    }
}

/// On or off: two flags, `--name` and `--no-name`.
pub struct Switch;

impl Single for Switch {
    type Out = bool;
    const ARITY: Arity = Arity::Switch;
    const BARE: bool = true;

    fn expects() -> String {
        "true or false".to_owned()
    }

    fn parse(text: &str) -> Result<bool, String> {
        match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "on" | "1" => Ok(true),
            "false" | "no" | "off" | "0" => Ok(false),
            _ => Err("expected true or false".to_owned()),
        }
    }
}

/// Any text that is not empty.
pub struct Text;

impl Single for Text {
    type Out = String;

    fn expects() -> String {
        "a text".to_owned()
    }

    fn parse(text: &str) -> Result<String, String> {
        if text.is_empty() {
            Err("expected a text that is not empty".to_owned())
        } else {
            Ok(text.to_owned())
        }
    }
}

/// A path; nothing is looked up.
pub struct FilePath;

impl Single for FilePath {
    type Out = PathBuf;

    fn expects() -> String {
        "a path".to_owned()
    }

    fn parse(text: &str) -> Result<PathBuf, String> {
        match text {
            "" => Err("expected a path that is not empty".to_owned()),
            _ if text.contains('\0') => Err("a path has no NUL in it".to_owned()),
            _ => Ok(text.into()),
        }
    }
}

impl Single for Address {
    type Out = Address;

    fn expects() -> String {
        "HOST:PORT, [IPV6]:PORT, :PORT, unix:PATH or fd://N".to_owned()
    }

    fn parse(text: &str) -> Result<Address, String> {
        Address::parse(text)
    }
}

impl Single for AppSpec {
    type Out = AppSpec;

    fn expects() -> String {
        "MODULE:ATTRIBUTE or MODULE:FACTORY()".to_owned()
    }

    fn parse(text: &str) -> Result<AppSpec, String> {
        AppSpec::parse(text)
    }
}

/// How much the log tells.
pub struct Level;

impl Single for Level {
    type Out = LevelFilter;

    fn expects() -> String {
        LEVELS.map(|(name, _)| name).join(", ")
    }

    fn parse(text: &str) -> Result<LevelFilter, String> {
        let wanted = text.to_ascii_lowercase();
        if let Some((_, level)) = LEVELS.iter().find(|(name, _)| *name == wanted) {
            return Ok(*level);
        }
        let meant = nearest(text, LEVELS.map(|(name, _)| name));
        let hint = meant.map(|name| format!(". Did you mean {name}?")).unwrap_or_default();
        Err(format!("expected one of {}{hint}", Self::expects()))
    }
}

/// gunicorn's names; the `log` crate has no level above error.
const LEVELS: [(&str, LevelFilter); 6] = [
    ("trace", LevelFilter::Trace),
    ("debug", LevelFilter::Debug),
    ("info", LevelFilter::Info),
    ("warning", LevelFilter::Warn),
    ("error", LevelFilter::Error),
    ("critical", LevelFilter::Error),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_stays_in_its_range() {
        assert_eq!(Count::<1, 8>::parse("8"), Ok(8));
        for text in ["0", "9", "", "+8", "-1", "8.0", "eight", "99999999999"] {
            let reason = "expected a whole number from 1 to 8".to_owned();
            assert_eq!(Count::<1, 8>::parse(text), Err(reason), "{text}");
        }
    }

    #[test]
    fn a_size_stays_in_its_range() {
        assert_eq!(Size::<1024>::parse("1KiB"), Ok(1024));
        assert_eq!(Size::<1024>::parse("1023"), Err("expected at least 1KiB".to_owned()));
        assert_eq!(Size::<0, 1024>::parse("1KiB"), Ok(1024));
        assert_eq!(Size::<0, 1024>::parse("1025"), Err("expected at most 1KiB".to_owned()));
    }

    #[test]
    fn a_duration_stays_in_its_range() {
        assert_eq!(Span::<1>::parse("1ms"), Ok(Duration::from_millis(1)));
        assert_eq!(Span::<1>::parse("24h"), Ok(Duration::from_secs(24 * 3600)));
        assert_eq!(Span::<0>::parse("0"), Ok(Duration::ZERO));
        assert_eq!(Span::<0, 48>::parse("49h"), Err("expected a duration up to 48h".to_owned()));
        for text in ["0", "25h"] {
            let reason = "expected a duration from 1ms to 24h".to_owned();
            assert_eq!(Span::<1>::parse(text), Err(reason), "{text}");
        }
    }

    #[test]
    fn a_switch_takes_the_usual_words() {
        for text in ["true", "YES", "on", "1"] {
            assert_eq!(Switch::parse(text), Ok(true));
        }
        for text in ["false", "No", "off", "0"] {
            assert_eq!(Switch::parse(text), Ok(false));
        }
        assert!(Switch::parse("maybe").is_err());
    }

    #[test]
    fn a_level_is_suggested() {
        assert_eq!(Level::parse("Warning"), Ok(LevelFilter::Warn));
        let reason = Level::parse("warn1ng").expect_err("no level");
        assert!(reason.ends_with("Did you mean warning?"), "{reason}");
    }

    #[test]
    fn one_text_is_one_text() {
        let two = ["1".to_owned(), "2".to_owned()];
        assert!(<Count<1, 8> as Kind>::resolve(&two).is_err());
        assert!(<Maybe<Count<1, 8>> as Kind>::resolve(&two).is_err());
        assert_eq!(<Each<Count<1, 8>> as Kind>::resolve(&two), Ok(vec![1, 2]));
        assert_eq!(<Maybe<Count<1, 8>> as Kind>::resolve(&[]), Ok(None));
    }
}
