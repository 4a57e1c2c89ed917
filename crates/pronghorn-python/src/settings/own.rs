//! What the server answers itself: where its metrics and its health are.

use super::kind::Single;
use super::table::Settings;
use super::{Address, Given, UsageError};

/// Where the metrics are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MetricsPlace {
    /// A path at every address.
    Path(String),
    /// An address of their own.
    Address(Address),
}

impl Single for MetricsPlace {
    type Out = MetricsPlace;

    fn expects() -> String {
        format!("{}, or {}", UrlPath::expects(), Address::expects())
    }

    fn parse(text: &str) -> Result<MetricsPlace, String> {
        match text.starts_with('/') {
            true => UrlPath::parse(text).map(MetricsPlace::Path),
            false => with_port(text).map(MetricsPlace::Address),
        }
    }
}

/// The port that `bind` has where none is named is that of the application.
fn with_port(text: &str) -> Result<Address, String> {
    match Address::parse(text)? {
        Address::Tcp { .. }
            if !text.ends_with(|end: char| end.is_ascii_digit()) || !text.contains(':') =>
        {
            Err(format!("expected {}", MetricsPlace::expects()))
        }
        address => Ok(address),
    }
}

/// The path of a URL, as requests have it.
pub struct UrlPath;

impl Single for UrlPath {
    type Out = String;

    fn expects() -> String {
        "a path such as /health".to_owned()
    }

    fn parse(text: &str) -> Result<String, String> {
        let is_plain = |byte: u8| byte.is_ascii_graphic() && !b"?#\"<>\\^`{|}".contains(&byte);
        match text.starts_with('/') && text.bytes().all(is_plain) {
            true => Ok(text.to_owned()),
            false => Err(format!("expected {}, without ? and #", Self::expects())),
        }
    }
}

impl Settings {
    /// The address that is for the metrics alone, if there is one.
    pub(super) fn metrics_address(&self) -> Option<Address> {
        match &self.metrics {
            Some(MetricsPlace::Address(address)) => Some(address.clone()),
            _ => None,
        }
    }
}

/// Refuses one place for two things.
///
/// # Errors
/// The metrics are where the health is, or where the application is served.
pub(super) fn check(given: &Given, settings: &Settings) -> Result<(), UsageError> {
    let is_any_port = |address: &Address| matches!(address, Address::Tcp { port: 0, .. });
    match &settings.metrics {
        Some(MetricsPlace::Path(path)) if settings.health.as_ref() == Some(path) => {
            Err(given.mistake("metrics", "the health check has this path already"))
        }
        Some(MetricsPlace::Address(address))
            if settings.bind.contains(address) && !is_any_port(address) =>
        {
            let reason =
                "the application is served at this address: choose another port, or a path";
            Err(given.mistake("metrics", reason))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Origin, TABLE};
    use super::*;

    fn given(entries: &[(&str, &str)]) -> Given {
        let mut given = Given::default();
        for (name, text) in entries {
            let setting = TABLE.iter().find(|setting| setting.name == *name).expect("known");
            given.set(setting, vec![(*text).to_owned()], Origin::Flag);
        }
        given
    }

    #[test]
    fn metrics_have_a_path_or_an_address() {
        let address = |text| Address::parse(text).map(MetricsPlace::Address);
        assert_eq!(MetricsPlace::parse("/metrics"), Ok(MetricsPlace::Path("/metrics".to_owned())));
        assert_eq!(MetricsPlace::parse(":9100"), address(":9100"));
        assert_eq!(MetricsPlace::parse("unix:/run/m"), address("unix:/run/m"));
        assert!(MetricsPlace::parse("9100").is_err());
    }

    #[test]
    fn a_path_is_one_that_a_request_can_have() {
        assert_eq!(UrlPath::parse("/-/healthy"), Ok("/-/healthy".to_owned()));
        for text in ["", "health", "/a b", "/a?b", "/a#b", "/\u{e9}"] {
            assert!(UrlPath::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn one_place_is_for_one_thing() {
        let message = |entries| given(entries).resolve().expect_err("a clash").to_string();
        let clash = message(&[("metrics", "/x"), ("health", "/x")]);
        assert_eq!(clash, "--metrics /x is not valid. The health check has this path already.");
        let clash = message(&[("metrics", "h:80"), ("bind", "h:80")]);
        assert!(clash.starts_with("--metrics h:80 is not valid. The application is"), "{clash}");
        let own = given(&[("metrics", "fd://4")]).resolve().expect("a socket of its own");
        let addresses = own.addresses(&[3, 4]).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(addresses, ["fd://3", "metrics:fd://4"]);
        let any = given(&[("metrics", "h:0"), ("bind", "h:0")]).resolve().expect("two ports");
        let addresses = any.addresses(&[]).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(addresses, ["h:0", "metrics:h:0"]);
    }
}
