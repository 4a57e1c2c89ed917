//! `bind`, `host`, `port`, `uds` and `fd` are five ways to say one thing: where to listen.

use std::os::fd::RawFd;

use super::given::{Given, Origin};
use super::table::Settings;
use super::{Address, UsageError};

/// Every address that was asked for; empty if nothing says where to listen.
///
/// The strongest place that says anything about it decides: `--port 80` replaces the file's `bind`. A `host` of
/// a weaker place still completes a `port`, and the other way round.
///
/// # Errors
/// `bind` beside `host` or `port` in one place, which could mean two things.
pub(super) fn addresses(given: &Given, settings: &Settings) -> Result<Vec<Address>, UsageError> {
    let Some(place) = WAYS.iter().filter_map(|way| place(given, way)).max() else {
        return Ok(Vec::new());
    };
    let decides = |way: &str| self::place(given, way) == Some(place);
    let by_parts = decides("host") || decides("port");
    if decides("bind") && by_parts {
        return Err(ambiguous());
    }

    let mut addresses = Vec::new();
    if decides("bind") {
        addresses.extend(settings.bind.iter().cloned());
    }
    if by_parts {
        addresses.push(from_parts(given, settings)?);
    }
    addresses.extend(settings.uds.clone().filter(|_| decides("uds")).map(Address::Unix));
    addresses.extend(settings.fd.filter(|_| decides("fd")).map(Address::Fd));
    if addresses.is_empty() {
        return Err(given.mistake("bind", "expected at least one address"));
    }
    match repeated(&addresses) {
        Some(address) => Err(UsageError::new(format!(
            "{address} is given twice. A server listens once at each address. Leave one of them out."
        ))),
        None => Ok(addresses),
    }
}

impl Settings {
    /// Where to listen: what was asked for, or else at the sockets that were `inherited` from systemd, or else on loopback; and the
    /// address for the metrics.
    pub fn addresses(&self, inherited: &[RawFd]) -> Vec<Address> {
        let for_metrics = self.metrics_address().map(|address| Address::Metrics(address.into()));
        let mut addresses = self.addresses_to_serve_at(inherited, for_metrics.as_ref());
        addresses.extend(for_metrics);
        addresses
    }

    fn addresses_to_serve_at(
        &self,
        inherited: &[RawFd],
        for_metrics: Option<&Address>,
    ) -> Vec<Address> {
        if !self.bind.is_empty() {
            return self.bind.clone();
        }
        let taken = for_metrics.and_then(Address::descriptor);
        let inherited = inherited.iter().filter_map(|number| u32::try_from(*number).ok());
        let free = inherited.filter(|number| Some(*number) != taken);
        let addresses: Vec<_> = free.map(Address::Fd).collect();
        if addresses.is_empty() { vec![default_address()] } else { addresses }
    }
}

/// Port 0 is another port each time.
fn repeated(addresses: &[Address]) -> Option<&Address> {
    let is_fixed = |address: &Address| !matches!(address, Address::Tcp { port: 0, .. });
    let mut places = addresses.iter().enumerate();
    let twice =
        places.find(|(at, address)| is_fixed(address) && addresses[..*at].contains(address))?;
    Some(twice.1)
}

/// The kind of place, whatever its line or name.
fn place(given: &Given, way: &str) -> Option<u8> {
    given.get(way).map(|entry| match entry.origin {
        Origin::File(..) => 0,
        Origin::EnvFile(..) => 1,
        Origin::Variable(_) => 2,
        Origin::Keyword => 3,
        Origin::Flag => 4,
    })
}

fn from_parts(given: &Given, settings: &Settings) -> Result<Address, UsageError> {
    let port = settings.port.map_or(Address::DEFAULT_PORT, |port| port as u16);
    match &settings.host {
        None => Ok(Address::Tcp { host: LOOPBACK.to_owned(), port }),
        Some(host) => {
            Address::from_host(host, port).map_err(|reason| given.mistake("host", &reason))
        }
    }
}

fn default_address() -> Address {
    Address::Tcp { host: LOOPBACK.to_owned(), port: Address::DEFAULT_PORT }
}

fn ambiguous() -> UsageError {
    UsageError::new(
        "bind is given together with host or port. Which of them counts is not clear. \
         Put the port into bind, as in --bind 0.0.0.0:8000, and leave the others out.",
    )
}

const WAYS: [&str; 5] = ["bind", "host", "port", "uds", "fd"];
const LOOPBACK: &str = "127.0.0.1";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::TABLE;

    fn given(entries: &[(&str, &[&str], Origin)]) -> Given {
        let mut given = Given::default();
        for (name, texts, origin) in entries {
            let setting = TABLE.iter().find(|setting| setting.name == *name).expect("known");
            given.set(
                setting,
                texts.iter().map(|text| (*text).to_owned()).collect(),
                origin.clone(),
            );
        }
        given
    }

    fn listens(entries: &[(&str, &[&str], Origin)]) -> Vec<String> {
        let settings = given(entries).resolve().expect("valid");
        settings.addresses(&[]).iter().map(ToString::to_string).collect()
    }

    fn file() -> Origin {
        Origin::File("p.toml".into(), 1)
    }

    #[test]
    fn nothing_given_is_loopback() {
        assert_eq!(listens(&[]), ["127.0.0.1:8000"]);
    }

    #[test]
    fn nothing_given_is_what_systemd_opened() {
        let listens = |entries| {
            let settings = given(entries).resolve().expect("valid");
            settings.addresses(&[3, 4]).iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        assert_eq!(listens(&[]), ["fd://3", "fd://4"]);
        assert_eq!(listens(&[("port", &["9000"], Origin::Flag)]), ["127.0.0.1:9000"]);
    }

    #[test]
    fn every_bind_counts() {
        let binds: &[&str] = &["127.0.0.1:1", "unix:/s"];
        assert_eq!(listens(&[("bind", binds, Origin::Flag)]), binds);
    }

    #[test]
    fn an_address_is_listened_at_once() {
        for (binds, twice) in
            [(&["fd://3", "h:1", "fd://3"][..], "fd://3"), (&["127.0.0.1:0", "h:1", "h:1"], "h:1")]
        {
            let error = given(&[("bind", binds, Origin::Flag)]).resolve().expect_err(twice);
            assert!(error.to_string().starts_with(&format!("{twice} is given twice. ")), "{error}");
        }
        let any_port: &[&str] = &["127.0.0.1:0", "127.0.0.1:0"];
        assert_eq!(listens(&[("bind", any_port, Origin::Flag)]), any_port);
    }

    #[test]
    fn host_and_port_complete_each_other() {
        assert_eq!(listens(&[("port", &["9000"], Origin::Flag)]), ["127.0.0.1:9000"]);
        assert_eq!(listens(&[("host", &["::1"], Origin::Flag)]), ["[::1]:8000"]);
        let across = [("port", &["9000"][..], Origin::Flag), ("host", &["0.0.0.0"][..], file())];
        assert_eq!(listens(&across), ["0.0.0.0:9000"]);
    }

    #[test]
    fn the_strongest_place_decides() {
        let replaced = [("port", &["9000"][..], Origin::Flag), ("bind", &[":80"][..], file())];
        assert_eq!(listens(&replaced), ["127.0.0.1:9000"]);
        let replaced = [("bind", &["h:80"][..], Origin::Flag), ("uds", &["/s"][..], file())];
        assert_eq!(listens(&replaced), ["h:80"]);
    }

    #[test]
    fn sockets_add_to_what_the_same_place_binds() {
        let all = [
            ("bind", &["h:80"][..], Origin::Flag),
            ("uds", &["/s"][..], Origin::Flag),
            ("fd", &["3"][..], Origin::Flag),
        ];
        assert_eq!(listens(&all), ["h:80", "unix:/s", "fd://3"]);
    }

    #[test]
    fn lines_of_one_file_are_one_place() {
        let all = [
            ("bind", &["h:80"][..], Origin::File("p.toml".into(), 1)),
            ("uds", &["/s"][..], Origin::File("p.toml".into(), 2)),
        ];
        assert_eq!(listens(&all), ["h:80", "unix:/s"]);
    }

    #[test]
    fn bind_beside_port_is_refused() {
        let both = given(&[("bind", &["h"], Origin::Flag), ("port", &["80"], Origin::Flag)]);
        let message = both.resolve().expect_err("ambiguous").to_string();
        assert!(message.starts_with("bind is given together with host or port."), "{message}");
    }

    #[test]
    fn an_empty_list_is_refused() {
        let none = given(&[("bind", &[], file())]);
        assert!(none.resolve().is_err());
    }
}
