//! Walks over what proxies and clients wrote.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use pronghorn_proto::head::HeadScanner;
use pronghorn_proto::limits::Limits;

use super::*;
use crate::client::{Believed, Network, Peers, Trusted};

const PROXY: &str = "10.0.0.1:5000";

/// Who trusts 10.0.0.0/8, and all there is to believe.
fn proxies() -> Proxies {
    let network = Network::new("10.0.0.0".parse().expect("an address"), 8);
    let believed = Believed {
        client: true,
        scheme: true,
        host: true,
        port: true,
        prefix: true,
        others: Vec::new(),
    };
    Proxies {
        trusted: Trusted::Peers(Peers { networks: vec![network], unix: true, everyone: false }),
        believed,
        ..Proxies::default()
    }
}

fn peer(address: &str) -> Peer {
    match address {
        "unix" => Peer::Unix,
        _ => Peer::Inet(address.parse::<SocketAddr>().expect("an address")),
    }
}

/// What `proxies` make of a request with these field lines.
fn seen<T>(proxies: &Proxies, from: &str, lines: &[&str], of: impl Fn(Forwarded<'_>) -> T) -> T {
    let fields: String = lines.iter().map(|line| format!("{line}\r\n")).collect();
    let bytes = format!("GET / HTTP/1.1\r\nHost: a\r\n{fields}\r\n").into_bytes();
    let mut head = RequestHead::default();
    let limits = Limits { field: 1 << 20, fields: 1 << 20, ..Limits::default() };
    let length = HeadScanner::default().advance(&bytes, &limits, &mut head);
    assert_eq!(length, Ok(Some(bytes.len())));
    of(proxies.forwarded(&head, &bytes, peer(from)))
}

fn client(proxies: &Proxies, from: &str, lines: &[&str]) -> String {
    seen(proxies, from, lines, |forwarded| {
        let ip = forwarded.client.ip.map_or("-".to_owned(), |ip| ip.to_string());
        forwarded.client.port.map_or(ip.clone(), |port| format!("{ip} {port}"))
    })
}

#[test]
fn the_right_most_untrusted_address_wins() {
    for (lines, expected) in [
        (&["X-Forwarded-For: 192.0.2.1"][..], "192.0.2.1"),
        (&["X-Forwarded-For: 6.6.6.6, 192.0.2.1"], "192.0.2.1"),
        (&["X-Forwarded-For: 6.6.6.6, 192.0.2.1 ,10.0.0.2,\t10.0.0.3"], "192.0.2.1"),
        (&["X-Forwarded-For: 6.6.6.6", "x-forwarded-for: 192.0.2.1, 10.0.0.2"], "192.0.2.1"),
        (&["X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: 10.0.0.2"], "192.0.2.1"),
        (&["X-Forwarded-For: \"[2001:db8::1]:4711\", 10.0.0.2:80"], "2001:db8::1 4711"),
        (&["X-Forwarded-For: 192.0.2.1:80"], "192.0.2.1 80"),
        (&["X-Forwarded-For: 10.0.0.9, 10.0.0.2"], "10.0.0.9"),
        (&["X-Forwarded-For: ::ffff:10.0.0.9, ::ffff:10.0.0.2"], "10.0.0.9"),
    ] {
        assert_eq!(client(&proxies(), PROXY, lines), expected, "{lines:?}");
    }
}

#[test]
fn garbage_stops_the_walk() {
    for (lines, expected) in [
        (&["X-Forwarded-For: 192.0.2.1, garbage"][..], "10.0.0.1 5000"),
        (&["X-Forwarded-For: 192.0.2.1, unknown, 10.0.0.2"], "10.0.0.2"),
        (&["X-Forwarded-For: 192.0.2.1, _hidden, 10.0.0.2:80"], "10.0.0.2 80"),
        (&["X-Forwarded-For: 192.0.2.1,, 10.0.0.2"], "10.0.0.2"),
        (&["X-Forwarded-For: 192.0.2.1,"], "10.0.0.1 5000"),
        (&["X-Forwarded-For:"], "10.0.0.1 5000"),
        (&["X-Forwarded-For: 192.0.2.1", "X-Forwarded-For: "], "10.0.0.1 5000"),
        (&["X-Forwarded-For: 192.0.2.1 10.0.0.2"], "10.0.0.1 5000"),
        (&["X-Forwarded-For: 192.0.2.1, unix:, 10.0.0.2"], "10.0.0.2"),
    ] {
        assert_eq!(client(&proxies(), PROXY, lines), expected, "{lines:?}");
    }
}

#[test]
fn who_is_not_trusted_says_nothing() {
    let lines = [
        "X-Forwarded-For: 192.0.2.1",
        "X-Forwarded-Proto: https",
        "X-Forwarded-Host: evil",
        "X-Forwarded-Port: 1",
        "X-Forwarded-Prefix: /evil",
        "Forwarded: for=192.0.2.1;proto=https;host=evil",
    ];
    for header in [ForwardedHeader::XForwarded, ForwardedHeader::Forwarded] {
        let proxies = Proxies { header, ..proxies() };
        let nothing = Forwarded::nothing(peer("203.0.113.9:5"));
        seen(&proxies, "203.0.113.9:5", &lines, |forwarded| assert_eq!(forwarded, nothing));
        assert_eq!(client(&proxies, "unix", &lines), "192.0.2.1");
    }
    let no_unix = Proxies { trusted: Trusted::Peers(Peers::default()), ..proxies() };
    assert_eq!(client(&no_unix, "unix", &lines), "-");
}

#[test]
fn a_count_takes_the_so_manieth_from_the_right() {
    let lines = ["X-Forwarded-For: 6.6.6.6, 192.0.2.1, 198.51.100.7"];
    for (count, expected) in [(1, "198.51.100.7"), (2, "192.0.2.1"), (3, "6.6.6.6"), (4, "6.6.6.6")]
    {
        let proxies = Proxies { trusted: Trusted::Count(count), ..proxies() };
        assert_eq!(client(&proxies, "203.0.113.9:5", &lines), expected, "{count}");
        let elements = ["Forwarded: for=6.6.6.6, for=192.0.2.1, for=198.51.100.7"];
        let proxies = Proxies { header: ForwardedHeader::Forwarded, ..proxies };
        assert_eq!(client(&proxies, "203.0.113.9:5", &elements), expected, "{count}");
    }
    let proxies = Proxies { trusted: Trusted::Count(2), ..proxies() };
    assert_eq!(client(&proxies, "203.0.113.9:5", &[]), "203.0.113.9 5");
    assert_eq!(client(&proxies, "203.0.113.9:5", &["X-Forwarded-For: a, 192.0.2.1"]), "192.0.2.1");
}

#[test]
fn elements_of_rfc_7239_belong_together() {
    let proxies = Proxies { header: ForwardedHeader::Forwarded, ..proxies() };
    let scheme = |lines: &[&str]| seen(&proxies, PROXY, lines, |forwarded| forwarded.scheme);
    for (line, expected, of) in [
        ("for=192.0.2.1;proto=https", "192.0.2.1", Some(Scheme::Https)),
        ("for=192.0.2.1;proto=https, for=10.0.0.2;proto=http", "192.0.2.1", Some(Scheme::Https)),
        ("for=6.6.6.6;proto=https, for=192.0.2.1", "192.0.2.1", None),
        ("for=6.6.6.6;proto=https, for=192.0.2.1;proto=http", "192.0.2.1", Some(Scheme::Http)),
        ("for=6.6.6.6;proto=http, for=unknown;proto=https", "10.0.0.1 5000", Some(Scheme::Https)),
        ("for=6.6.6.6, for=_hidden, for=10.0.0.2:80", "10.0.0.2 80", None),
        ("proto=https", "10.0.0.1 5000", Some(Scheme::Https)),
        ("for=6.6.6.6, for=192.0.2.1;for=6.6.6.6", "10.0.0.1 5000", None),
        ("for=\"6.6.6.6, for=192.0.2.1", "192.0.2.1", None),
        ("For=\"[2001:db8:cafe::17]:4711\"", "2001:db8:cafe::17 4711", None),
    ] {
        let line = format!("Forwarded: {line}");
        assert_eq!(client(&proxies, PROXY, &[&line]), expected, "{line}");
        assert_eq!(scheme(&[&line]), of, "{line}");
    }
    let two = ["Forwarded: for=192.0.2.1;proto=https", "Forwarded: for=10.0.0.2;proto=http"];
    assert_eq!(
        (client(&proxies, PROXY, &two).as_str(), scheme(&two)),
        ("192.0.2.1", Some(Scheme::Https))
    );
}

#[test]
fn of_other_fields_the_right_most_member_counts() {
    let scheme = |lines: &[&str]| seen(&proxies(), PROXY, lines, |forwarded| forwarded.scheme);
    assert_eq!(scheme(&["X-Forwarded-Proto: HTTPS"]), Some(Scheme::Https));
    assert_eq!(scheme(&["X-Forwarded-Proto: https, http"]), Some(Scheme::Http));
    assert_eq!(
        scheme(&["X-Forwarded-Proto: https", "X-Forwarded-Proto: http"]),
        Some(Scheme::Http)
    );
    for empty in ["X-Forwarded-Proto:", "X-Forwarded-Proto: wss", "X-Forwarded-Proto: https,"] {
        assert_eq!(scheme(&["X-Forwarded-Proto: https", empty]), None, "{empty}");
    }
}

#[test]
fn host_port_and_prefix_have_their_grammars() {
    let host = |lines: &[&str]| {
        seen(&proxies(), PROXY, lines, |forwarded| {
            let host = forwarded.host.map(|host| String::from_utf8_lossy(host).into_owned());
            (host, forwarded.port)
        })
    };
    let some = |host: &str| Some(host.to_owned());
    assert_eq!(host(&["X-Forwarded-Host: shop.example"]), (some("shop.example"), None));
    assert_eq!(
        host(&["X-Forwarded-Host: evil, shop.example:8443"]),
        (some("shop.example:8443"), Some(8443))
    );
    assert_eq!(
        host(&["X-Forwarded-Host: [::1]:1", "X-Forwarded-Port: 443"]),
        (some("[::1]:1"), Some(443))
    );
    for bad in ["", ":80", "a/b", "u@a", "a b", "a:b", "a?", "\"a"] {
        assert_eq!(host(&[&format!("X-Forwarded-Host: {bad}")]), (None, None), "{bad}");
    }
    assert_eq!(host(&["X-Forwarded-Port: 0"]).1, None);
    let prefix = |line: &str| {
        seen(&proxies(), PROXY, &[line], |forwarded| forwarded.mount_point.map(<[u8]>::to_vec))
    };
    assert_eq!(prefix("X-Forwarded-Prefix: /api/").as_deref(), Some(&b"/api"[..]));
    assert_eq!(prefix("X-Forwarded-Prefix: //evil"), None);
}

#[test]
fn what_is_not_believed_changes_nothing() {
    let proxies = Proxies { believed: Believed::default(), ..proxies() };
    let lines = ["X-Forwarded-For: 192.0.2.1", "X-Forwarded-Proto: https", "X-Forwarded-Host: a"];
    let nothing = Forwarded::nothing(peer(PROXY));
    seen(&proxies, PROXY, &lines, |forwarded| assert_eq!(forwarded, nothing));
    for name in [Known::XForwardedFor, Known::XForwardedProto, Known::XRealIp, Known::Forwarded] {
        assert!(!proxies.shows(peer(PROXY), name), "{name:?}");
    }
}

#[test]
fn the_application_sees_what_is_believed_and_no_more() {
    let others = vec!["x-forwarded-user".to_owned()];
    let believed = Believed { others, client: true, ..Believed::default() };
    let proxies = Proxies { believed, ..proxies() };
    let sees = |from: &str, name: &str| match Known::lookup(name.as_bytes()) {
        Some(known) => proxies.shows(peer(from), known),
        None => proxies.shows_name(peer(from), name.as_bytes()),
    };
    for name in ["x-forwarded-for", "X-Forwarded-User", "x-real-ip", "accept", "x-other"] {
        assert!(sees(PROXY, name), "{name}");
    }
    for name in ["x-forwarded-proto", "x-forwarded-server", "x-forwarded-ssl", "forwarded"] {
        assert!(!sees(PROXY, name), "{name}");
    }
    for name in ["x-forwarded-for", "x-forwarded-user", "x-real-ip", "forwarded"] {
        assert!(!sees("203.0.113.9:5", name), "{name}");
    }
    assert!(sees("203.0.113.9:5", "accept") && sees("203.0.113.9:5", "x-other"));
}

#[test]
fn long_lists_take_linear_time() {
    let list = |length: usize| format!("X-Forwarded-For: {}", "10.0.0.2,".repeat(length));
    let took = |line: &str| {
        let began = Instant::now();
        client(&proxies(), PROXY, &[line]);
        began.elapsed()
    };
    for line in [list(100_000), format!("X-Forwarded-For: {}1", ",".repeat(500_000))] {
        assert!(took(&line) < Duration::from_secs(1));
    }
    let forwarded = Proxies { header: ForwardedHeader::Forwarded, ..proxies() };
    let quotes = format!("Forwarded: {}", "for=\"10.0.0.2\",".repeat(50_000));
    assert_eq!(client(&forwarded, PROXY, &[&quotes]), "10.0.0.1 5000");
}
