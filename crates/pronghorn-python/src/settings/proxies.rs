//! What is in front of the server and what of its words counts, as people write it.

use pronghorn_engine::{Believed, ForwardedHeader, Proxies, Trusted};
use pronghorn_proto::field::is_token;
use pronghorn_proto::forwarded::is_x_forwarded;
use pronghorn_proto::proxy::Versions;

use super::given::Given;
use super::kind::Single;
use super::words::Words;
use super::{Settings, UsageError};

/// Which fields trusted proxies set.
impl Words for ForwardedHeader {
    const ALL: &'static [(&'static str, Self)] =
        &[("x-forwarded", ForwardedHeader::XForwarded), ("forwarded", ForwardedHeader::Forwarded)];
}

/// Whether and how the PROXY protocol is spoken.
impl Words for Option<Versions> {
    const ALL: &'static [(&'static str, Self)] = &[
        ("off", None),
        ("auto", Some(Versions::Either)),
        ("v1", Some(Versions::V1)),
        ("v2", Some(Versions::V2)),
    ];
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
    use crate::settings::from_keywords;

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
    fn what_cannot_go_together_is_said() {
        let given = |pairs: &[(&str, &str)]| {
            let keyword =
                |(name, text): &(&str, &str)| ((*name).to_owned(), vec![(*text).to_owned()]);
            let given =
                from_keywords(pairs.iter().map(keyword).collect(), |_| None).expect("known");
            given.resolve().map(|settings| settings.proxies()).map_err(|error| error.to_string())
        };
        let both = [("forwarded_count", "2"), ("forwarded_allow_ips", "10.0.0.0/8")];
        let reason = given(&both).expect_err("one of both");
        assert!(
            reason.ends_with(
                "With forwarded-count the peers are not looked at; leave out one of both."
            ),
            "{reason}"
        );
        let counted = given(&both[..1]).map(|proxies| proxies.trusted);
        assert_eq!(counted, Ok(Trusted::Count(2)));
        for part in ["for,port", "prefix", "x-forwarded-user"] {
            let pairs = [("forwarded_header", "forwarded"), ("forwarded_fields", part)];
            let reason = given(&pairs).expect_err(part);
            assert!(reason.ends_with("there are for, proto and host."), "{reason}");
        }
        assert_eq!(given(&[]), Ok(Proxies::default()));
    }

    #[test]
    fn words_are_suggested() {
        assert_eq!(<Option<Versions>>::read("AUTO"), Ok(Some(Versions::Either)));
        assert_eq!(<Option<Versions>>::read("off"), Ok(None));
        assert_eq!(ForwardedHeader::read("Forwarded"), Ok(ForwardedHeader::Forwarded));
        let reason = ForwardedHeader::read("x-forwardd").expect_err("no such word");
        assert_eq!(reason, "expected one of x-forwarded, forwarded. Did you mean x-forwarded?");
    }
}
