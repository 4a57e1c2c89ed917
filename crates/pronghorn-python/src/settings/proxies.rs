//! What is in front of the server, as people write it.

use std::net::IpAddr;

use pronghorn_engine::{Believed, ForwardedHeader, Network, Peers, Proxies, Trusted};
use pronghorn_proto::field::is_token;
use pronghorn_proto::forwarded::is_x_forwarded;
use pronghorn_proto::proxy::Versions;

use super::given::Given;
use super::kind::Single;
use super::{Settings, UsageError, nearest};

/// Peers: addresses, networks, `unix` and `*`, with commas between. An empty text is nobody.
pub struct PeerList;

impl Single for PeerList {
    type Out = Peers;

    fn expects() -> String {
        "addresses, networks such as 10.0.0.0/8, unix or *, with commas between; an empty text for nobody"
            .to_owned()
    }

    fn parse(text: &str) -> Result<Peers, String> {
        let mut peers = Peers::default();
        for entry in text.split(',').map(str::trim).filter(|_| !text.is_empty()) {
            match entry {
                "*" => peers.everyone = true,
                "unix" => peers.unix = true,
                _ => peers.networks.push(network(entry)?),
            }
        }
        Ok(peers)
    }
}

fn network(text: &str) -> Result<Network, String> {
    let (address, length) = match text.split_once('/') {
        Some((address, length)) => (address, Some(length)),
        None => (text, None),
    };
    let address: IpAddr = address.parse().map_err(|_| no_address(text))?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let length = match length {
        None => most,
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits
            .parse()
            .ok()
            .filter(|length| *length <= most)
            .ok_or_else(|| no_length(text, most))?,
        Some(_) => return Err(no_length(text, most)),
    };
    let network = Network::new(address, length);
    match network.contains(address) && network.first() != address.to_canonical() {
        true => Err(format!("{text} is within {}/{length}: write that", network.first())),
        false => Ok(network),
    }
}

fn no_address(text: &str) -> String {
    match text {
        "" => "there is nothing between two commas".to_owned(),
        _ if text.starts_with('[') => format!("{text} has brackets: write the address without"),
        _ => format!("{text:?} is no address: expected {}", PeerList::expects()),
    }
}

fn no_length(text: &str, most: u8) -> String {
    format!("{text:?} is no network: expected 0 to {most} behind the slash")
}

/// One of a few words.
trait Words: Copy + 'static {
    const ALL: &'static [(&'static str, Self)];

    fn listed() -> String {
        Self::ALL.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ")
    }

    fn read(text: &str) -> Result<Self, String> {
        let wanted = text.to_ascii_lowercase();
        let word = Self::ALL.iter().find(|(word, _)| *word == wanted);
        word.map(|(_, meaning)| *meaning).ok_or_else(|| {
            let meant = nearest(text, Self::ALL.iter().map(|(word, _)| *word));
            let hint = meant.map(|word| format!(". Did you mean {word}?")).unwrap_or_default();
            format!("expected one of {}{hint}", Self::listed())
        })
    }
}

/// Which fields trusted proxies set.
pub struct HeaderName;

impl Words for ForwardedHeader {
    const ALL: &'static [(&'static str, Self)] =
        &[("x-forwarded", ForwardedHeader::XForwarded), ("forwarded", ForwardedHeader::Forwarded)];
}

impl Single for HeaderName {
    type Out = ForwardedHeader;

    fn expects() -> String {
        ForwardedHeader::listed()
    }

    fn parse(text: &str) -> Result<ForwardedHeader, String> {
        ForwardedHeader::read(text)
    }
}

/// Whether and how the PROXY protocol is spoken.
pub struct ProxyVersions;

impl Words for Option<Versions> {
    const ALL: &'static [(&'static str, Self)] = &[
        ("off", None),
        ("auto", Some(Versions::Either)),
        ("v1", Some(Versions::V1)),
        ("v2", Some(Versions::V2)),
    ];
}

impl Single for ProxyVersions {
    type Out = Option<Versions>;

    fn expects() -> String {
        <Option<Versions>>::listed()
    }

    fn parse(text: &str) -> Result<Option<Versions>, String> {
        <Option<Versions>>::read(text)
    }
}

/// What of the words of trusted proxies is believed.
pub struct BelievedList;

/// What there is to believe.
#[derive(Clone, Copy)]
enum Part {
    Client,
    Scheme,
    Host,
    Port,
    Prefix,
}

impl Words for Part {
    const ALL: &'static [(&'static str, Self)] = &[
        ("for", Part::Client),
        ("proto", Part::Scheme),
        ("host", Part::Host),
        ("port", Part::Port),
        ("prefix", Part::Prefix),
    ];
}

impl Single for BelievedList {
    type Out = Believed;

    fn expects() -> String {
        format!("{}, or whole names such as x-forwarded-user, with commas between", Part::listed())
    }

    fn parse(text: &str) -> Result<Believed, String> {
        let mut believed = Believed::default();
        for word in text.split(',').map(str::trim).filter(|_| !text.is_empty()) {
            if is_x_forwarded(word.as_bytes()) && is_token(word.as_bytes()) {
                believe_name(&mut believed, &word.to_ascii_lowercase());
                continue;
            }
            match Part::read(word)? {
                Part::Client => believed.client = true,
                Part::Scheme => believed.scheme = true,
                Part::Host => believed.host = true,
                Part::Port => believed.port = true,
                Part::Prefix => believed.prefix = true,
            }
        }
        Ok(believed)
    }
}

/// Those that mean something are believed by their short names.
fn believe_name(believed: &mut Believed, name: &str) {
    match &name["x-forwarded-".len()..] {
        "for" => believed.client = true,
        "proto" => believed.scheme = true,
        "host" => believed.host = true,
        "port" => believed.port = true,
        "prefix" => believed.prefix = true,
        _ => believed.others.push(name.to_owned()),
    }
}

impl Settings {
    /// What is in front of the server.
    pub fn proxies(&self) -> Proxies {
        Proxies {
            trusted: match self.forwarded_count {
                Some(count) => Trusted::Count(count as usize),
                None => Trusted::Peers(self.forwarded_allow_ips.clone()),
            },
            header: self.forwarded_header,
            believed: self.forwarded_fields.clone(),
            protocol: self.proxy_protocol,
            protocol_peers: self.proxy_allow_ips.clone(),
        }
    }
}

impl Given {
    /// Two ways to say whom to trust are one too many, and Forwarded has not everything.
    pub(super) fn check_proxies(&self, settings: &Settings) -> Result<(), UsageError> {
        if settings.forwarded_count.is_some() && self.get("forwarded_allow_ips").is_some() {
            let reason = "with forwarded-count the peers are not looked at; leave out one of both";
            return Err(self.mistake("forwarded_allow_ips", reason));
        }
        let believed = &settings.forwarded_fields;
        let foreign = believed.port || believed.prefix || !believed.others.is_empty();
        if settings.forwarded_header == ForwardedHeader::Forwarded && foreign {
            let reason = "with forwarded-header forwarded there are for, proto and host";
            return Err(self.mistake("forwarded_fields", reason));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn peers_as_people_write_them() {
        assert_eq!(PeerList::parse("127.0.0.1,::1,unix"), Ok(Peers::local()));
        assert_eq!(PeerList::parse(""), Ok(Peers::default()));
        let all = Peers { everyone: true, ..Peers::default() };
        assert_eq!(PeerList::parse("*"), Ok(all));
        let networks = vec![
            Network::new(ip("10.0.0.0"), 8),
            Network::new(ip("2001:db8::"), 32),
            Network::new(ip("192.0.2.1"), 32),
        ];
        let expected = Peers { networks, ..Peers::default() };
        for text in [
            "10.0.0.0/8,2001:db8::/32,192.0.2.1",
            " ::ffff:10.0.0.0/104, 2001:db8::/32 ,192.0.2.1/32",
        ] {
            assert_eq!(PeerList::parse(text).as_ref(), Ok(&expected), "{text}");
        }
    }

    #[test]
    fn mistakes_in_peers_say_what_to_write() {
        for (text, part) in [
            ("localhost", "\"localhost\" is no address: expected addresses, networks"),
            ("10.0.0.1/8", "10.0.0.1/8 is within 10.0.0.0/8: write that"),
            ("10.0.0.0/33", "\"10.0.0.0/33\" is no network: expected 0 to 32 behind the slash"),
            ("::/129", "expected 0 to 128 behind the slash"),
            ("10.0.0.0/255.0.0.0", "expected 0 to 32 behind the slash"),
            ("10.0.0.0/", "expected 0 to 32 behind the slash"),
            ("10.0.0.0/+8", "expected 0 to 32 behind the slash"),
            ("127.0.0.1,,::1", "there is nothing between two commas"),
            ("[::1]", "[::1] has brackets: write the address without"),
            ("10.0.0.256", "is no address"),
            ("127.0.0.1:80", "is no address"),
        ] {
            let reason = PeerList::parse(text).expect_err(text);
            assert!(reason.contains(part), "{text}: {reason}");
        }
    }

    #[test]
    fn what_is_believed() {
        let expected = Believed { client: true, scheme: true, ..Believed::default() };
        assert_eq!(BelievedList::parse("for,proto"), Ok(expected.clone()));
        assert_eq!(BelievedList::parse("X-Forwarded-For, Proto"), Ok(expected));
        assert_eq!(BelievedList::parse(""), Ok(Believed::default()));
        let others = BelievedList::parse("x-forwarded-User").map(|believed| believed.others);
        assert_eq!(others, Ok(vec!["x-forwarded-user".to_owned()]));
        let reason = BelievedList::parse("for,prto").expect_err("no such part");
        assert!(reason.ends_with("Did you mean proto?"), "{reason}");
        assert!(BelievedList::parse("for,,proto").is_err());
    }

    #[test]
    fn words_are_suggested() {
        assert_eq!(ProxyVersions::parse("AUTO"), Ok(Some(Versions::Either)));
        assert_eq!(ProxyVersions::parse("off"), Ok(None));
        assert_eq!(HeaderName::parse("Forwarded"), Ok(ForwardedHeader::Forwarded));
        let reason = HeaderName::parse("x-forwardd").expect_err("no such word");
        assert_eq!(reason, "expected one of x-forwarded, forwarded. Did you mean x-forwarded?");
    }
}
