//! Headers whole, cut at every byte, and broken.

use core::net::SocketAddr;

use super::*;

const V2: &[u8] = b"\r\n\r\n\0\r\nQUIT\n";

fn v2(command: u8, family: u8, payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(payload.len()).expect("short").to_be_bytes();
    [V2, &[command, family], &length, payload].concat()
}

fn tcp4() -> Vec<u8> {
    v2(0x21, 0x11, &[192, 0, 2, 1, 198, 51, 100, 1, 0x12, 0x67, 0, 80])
}

fn tcp6(more: &[u8]) -> Vec<u8> {
    let mut payload = vec![0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
    payload.extend([0xfe; 16]);
    payload.extend([0x12, 0x67, 0, 80]);
    payload.extend(more);
    v2(0x21, 0x21, &payload)
}

/// Good headers and the client in them.
fn good() -> Vec<(Vec<u8>, Option<&'static str>)> {
    let longest = format!("PROXY UNKNOWN {}\r\n", "f".repeat(v1::LONGEST - 16));
    let lines = [
        ("PROXY TCP4 192.0.2.1 198.51.100.1 4711 80\r\n", Some("192.0.2.1:4711")),
        ("PROXY TCP4 0.0.0.0 255.255.255.255 0 65535\r\n", Some("0.0.0.0:0")),
        ("PROXY TCP6 2001:db8::1 ::1 4711 80\r\n", Some("[2001:db8::1]:4711")),
        ("PROXY UNKNOWN\r\n", None),
        ("PROXY UNKNOWN what ever 1 2\r\n", None),
        (&longest, None),
    ];
    let lines = lines.map(|(line, source)| (line.as_bytes().to_vec(), source));
    let largest = vec![0; v2::LONGEST - 16 - 36];
    let binary = [
        (tcp4(), Some("192.0.2.1:4711")),
        (v2(0x21, 0x12, &tcp4()[16..]), Some("192.0.2.1:4711")),
        (tcp6(b""), Some("[2001:db8::1]:4711")),
        (tcp6(b"\x03\0\x04abcd"), Some("[2001:db8::1]:4711")),
        (tcp6(&largest), Some("[2001:db8::1]:4711")),
        (v2(0x20, 0, b""), None),
        (v2(0x20, 0x11, &tcp4()[16..]), None),
        (v2(0x21, 0, b"tlvs"), None),
        (v2(0x21, 0x31, &[0; 216]), None),
    ];
    lines.into_iter().chain(binary).collect()
}

fn bad() -> Vec<Vec<u8>> {
    let too_long = format!("PROXY UNKNOWN {}\r\n", "f".repeat(v1::LONGEST - 15));
    let lines = [
        "GET / HTTP/1.1\r\n",
        "proxy TCP4 192.0.2.1 198.51.100.1 4711 80\r\n",
        "PROXYTCP4 192.0.2.1 198.51.100.1 4711 80\r\n",
        "PROXY \r\n",
        "PROXY TCP4\r\n",
        "PROXY  TCP4 192.0.2.1 198.51.100.1 4711 80\r\n",
        "PROXY TCP4 192.0.2.1 198.51.100.1 4711 80\n",
        "PROXY TCP4 192.0.2.1 198.51.100.1 4711 80 \r\n",
        "PROXY TCP4 192.0.2.1 198.51.100.1 4711\r\n",
        "PROXY TCP4 192.0.2.1 198.51.100.1 04711 80\r\n",
        "PROXY TCP4 192.0.2.1 198.51.100.1 +4711 80\r\n",
        "PROXY TCP4 192.0.2.1 198.51.100.1 4711 65536\r\n",
        "PROXY TCP4 192.0.2.1 198.51.100.1 4711 \r\n",
        "PROXY TCP4 192.0.2.01 198.51.100.1 4711 80\r\n",
        "PROXY TCP4 192.0.2.1 localhost 4711 80\r\n",
        "PROXY TCP4 2001:db8::1 ::1 4711 80\r\n",
        "PROXY TCP6 192.0.2.1 198.51.100.1 4711 80\r\n",
        "PROXY TCP6 fe80::1%eth0 ::1 4711 80\r\n",
        "PROXY UDP4 192.0.2.1 198.51.100.1 4711 80\r\n",
        "PROXY UNKNOWNS\r\n",
        "PROXY TCP4 192.0.2.1\u{e9} 198.51.100.1 4711 80\r\n",
        &too_long,
    ];
    let lines = lines.map(|line| line.as_bytes().to_vec());
    let mut too_large = v2(0x21, 0, &[]);
    too_large[14..].copy_from_slice(&((v2::LONGEST - 15) as u16).to_be_bytes());
    let mut other_signature = tcp4();
    other_signature[11] = b'\r';
    let binary = [
        v2(0x11, 0x11, &tcp4()[16..]),
        v2(0x22, 0x11, &tcp4()[16..]),
        v2(0x21, 0x13, &tcp4()[16..]),
        v2(0x21, 0x41, &tcp4()[16..]),
        v2(0x21, 0x11, &tcp4()[16..27]),
        v2(0x21, 0x21, &tcp4()[16..]),
        v2(0x21, 0x31, &[0; 215]),
        too_large,
        other_signature,
        b"\r\nGET / HTTP/1.1\r\n".to_vec(),
    ];
    lines.into_iter().chain(binary).collect()
}

#[test]
fn every_cut_of_a_good_header_waits_for_the_rest() {
    for (header, source) in good() {
        let source = source.map(|source| source.parse::<SocketAddr>().expect("an address"));
        let announced = Announcement { length: header.len(), source };
        for cut in 0..header.len() {
            assert_eq!(parse(&header[..cut], Versions::Either), Ok(None), "{cut} of {header:?}");
        }
        for more in [&b""[..], b"\r\n", b"GET / HTTP/1.1\r\n", b"PROXY TCP4"] {
            let bytes = [&header[..], more].concat();
            assert_eq!(parse(&bytes, Versions::Either), Ok(Some(announced)), "{header:?}");
        }
    }
}

#[test]
fn a_bad_header_is_refused_and_no_cut_of_it_accepted() {
    for header in bad() {
        assert_eq!(parse(&header, Versions::Either), Err(Error::ProxyHeader), "{header:?}");
        let mut refused = false;
        for cut in 0..header.len() {
            match parse(&header[..cut], Versions::Either) {
                Ok(None) => assert!(!refused, "more bytes mended it: {cut} of {header:?}"),
                Ok(Some(_)) => panic!("{cut} of {header:?}"),
                Err(_) => refused = true,
            }
        }
    }
}

#[test]
fn only_the_version_asked_for() {
    let line = b"PROXY UNKNOWN\r\n";
    for (versions, takes_1, takes_2) in
        [(Versions::Either, true, true), (Versions::V1, true, false), (Versions::V2, false, true)]
    {
        assert_eq!(parse(line, versions).is_ok(), takes_1);
        assert_eq!(parse(&tcp4(), versions).is_ok(), takes_2);
    }
}

#[test]
fn no_single_byte_changed_gives_a_wrong_length() {
    for (header, _) in good().iter().filter(|(header, _)| header.len() < 300) {
        for at in 0..header.len() {
            for byte in 0..=255 {
                let mut changed = header.clone();
                changed[at] = byte;
                changed.extend([0; 64]);
                if let Ok(Some(announced)) = parse(&changed, Versions::Either) {
                    assert!(announced.length <= changed.len());
                    let again = parse(&changed[..announced.length], Versions::Either);
                    assert_eq!(again, Ok(Some(announced)));
                }
            }
        }
    }
}
