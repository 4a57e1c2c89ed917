//! What holds for every request a well-behaved client can build: it is read back as it was meant.
#![allow(unreachable_pub, reason = "some modules are shared with the crate of fuzz targets")]

#[path = "../fuzz/src/conversation.rs"]
mod conversation;
#[path = "../fuzz/src/cuts.rs"]
#[allow(dead_code, reason = "one way to cut is enough here")]
mod cuts;

use conversation::{Outcome, Request};
use cuts::Random;
use pronghorn_proto::{Error, Known, Version, percent};

#[test]
fn requests_are_read_back_as_they_were_meant() {
    for seed in 0..500 {
        let mut random = Random::new(seed);
        let requests: Vec<Request> = (0..4).map(|_| any_request(&mut random)).collect();
        let input: Vec<u8> = requests.iter().flat_map(|r| write(r, &mut random)).collect();
        let (outcomes, open) = conversation::play(&cuts::random(&input, 40, &mut random), false);
        let read: Vec<Request> = outcomes.into_iter().map(served).collect();
        assert_eq!(read, requests, "seed {seed}");
        assert!(open);
    }
}

#[test]
fn a_request_cut_by_eof_is_never_served() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let request = any_request(&mut random);
        let input = write(&request, &mut random);
        let kept = random.below(input.len());
        let (outcomes, _) = conversation::play(&[&input[..kept]], true);
        assert!(
            matches!(outcomes[..], [] | [Outcome::Refused(Error::BodyTruncated)]),
            "seed {seed}: {outcomes:?}"
        );
    }
}

#[test]
fn every_byte_in_a_field_value_is_kept_or_refused() {
    for byte in 0..=255 {
        let input = [b"GET / HTTP/1.1\r\nHost: a\r\nX-A: b", &[byte][..], b"c\r\n\r\n"].concat();
        let allowed = byte == b'\t' || (b' '..=b'~').contains(&byte) || byte >= 0x80;
        match &conversation::play(&[&input], false).0[..] {
            [Outcome::Served(request)] if allowed => {
                assert_eq!(request.fields[1].1, [b'b', byte, b'c']);
            }
            [Outcome::Refused(Error::Field | Error::BareLineEnd)] if !allowed => {}
            outcomes => panic!("byte {byte:02x}: {outcomes:?}"),
        }
    }
}

#[test]
fn every_byte_in_a_field_name_is_a_token_byte_or_refused() {
    for byte in 0..=255 {
        let input = [b"GET / HTTP/1.1\r\nHost: a\r\nX", &[byte][..], b"A: b\r\n\r\n"].concat();
        // After a colon or an underscore the name is another one.
        let allowed = pronghorn_proto::field::is_token_byte(byte) || byte == b':';
        let outcomes = conversation::play(&[&input], false).0;
        assert_eq!(matches!(outcomes[..], [Outcome::Served(_)]), allowed, "byte {byte:02x}");
    }
}

#[test]
fn every_byte_in_a_target_is_kept_or_refused() {
    for place in 0..20 {
        for byte in 0..=255 {
            let target = [b"/", &[b'a'; 20][..place], &[byte], &[b'b'; 20][place..]].concat();
            let input = [b"GET ", &target[..], b" HTTP/1.1\r\nHost: a\r\n\r\n"].concat();
            let allowed = (byte.is_ascii_graphic() && byte != b'#') || byte >= 0x80;
            match &conversation::play(&[&input], false).0[..] {
                [Outcome::Served(request)] if allowed => {
                    let query = request.query.iter().flat_map(|query| [b"?", &query[..]].concat());
                    let read: Vec<u8> = request.path.iter().copied().chain(query).collect();
                    assert_eq!(read, target);
                }
                [Outcome::Refused(_)] if !allowed => {}
                outcomes => panic!("byte {byte:02x} at {place}: {outcomes:?}"),
            }
        }
    }
}

#[test]
fn a_path_percent_encoded_is_decoded_to_itself() {
    for seed in 0..200 {
        let mut random = Random::new(seed);
        let path: Vec<u8> = (0..random.below(60)).map(|_| random.below(256) as u8).collect();
        let encoded: String = path.iter().map(|byte| format!("%{byte:02X}")).collect();
        let mut decoded = Vec::new();
        percent::decode_path(encoded.as_bytes(), &mut decoded);
        assert_eq!(decoded, path);
    }
}

/// Fifty megabytes in pieces of a hundred bytes: the work per piece must not grow with what came
/// before, or this takes minutes.
#[test]
fn a_long_body_in_small_pieces_takes_linear_work() {
    let head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
    let chunk = [b"5f\r\n", &[b'x'; 0x5f][..], b"\r\n"].concat();
    let mut pieces = vec![&head[..]];
    pieces.extend(std::iter::repeat_n(&chunk[..], 500_000));
    pieces.push(b"0\r\n\r\n");
    match &conversation::play(&pieces, false).0[..] {
        [Outcome::Served(request)] => assert_eq!(request.body.len(), 500_000 * 0x5f),
        outcomes => panic!("{} outcomes", outcomes.len()),
    }
}

fn any_request(random: &mut Random) -> Request {
    let methods: [&[u8]; 5] = [b"GET", b"POST", b"PUT", b"DELETE", b"PURGE"];
    let body: Vec<u8> = (0..random.below(300)).map(|_| random.below(256) as u8).collect();
    Request {
        method: methods[random.below(methods.len())].to_vec(),
        path: [b"/", &any_of(b"abz09-._~%/:@!$&'()*+,;=|\xc3\xa9", random)[..]].concat(),
        query: (random.below(2) == 0).then(|| any_of(b"abz09=&?/%", random)),
        host: Some(any_of(b"abz09.-", random)),
        fields: any_fields(random),
        version: Version::Http11,
        persistent: true,
        keep_alive_requested: false,
        expect_continue: random.below(4) == 0 && !body.is_empty(),
        body,
    }
}

/// Fields of distinct names, known and unknown, with values that begin and end visibly.
fn any_fields(random: &mut Random) -> Vec<(Vec<u8>, Vec<u8>)> {
    let known = [Known::Accept, Known::UserAgent, Known::Cookie, Known::XForwardedFor];
    let names = known.map(|known| known.name().to_owned());
    let others = (0..random.below(40)).map(|number| format!("x-{number}"));
    let value =
        |random: &mut Random| any_of(b"az09,;=/ \t\"\x80\xff", random).trim_ascii().to_vec();
    names.into_iter().chain(others).map(|name| (name.into(), value(random))).collect()
}

fn any_of(alphabet: &[u8], random: &mut Random) -> Vec<u8> {
    (0..random.below(30)).map(|_| alphabet[random.below(alphabet.len())]).collect()
}

/// The request that was served, without the fields that `write` adds.
fn served(outcome: Outcome) -> Request {
    let Outcome::Served(mut request) = outcome else { panic!("{outcome:?}") };
    let added: [&[u8]; 4] = [b"host", b"expect", b"content-length", b"transfer-encoding"];
    request.fields.retain(|(name, _)| !added.contains(&&name[..]));
    *request
}

/// Writes `request` in one of the ways a client may.
fn write(request: &Request, random: &mut Random) -> Vec<u8> {
    let mut out = [&request.method[..], b" ", &request.path].concat();
    out.extend(request.query.iter().flat_map(|query| [b"?", &query[..]].concat()));
    out.extend(b" HTTP/1.1\r\n");
    write_field(b"host", request.host.as_deref().unwrap_or_default(), random, &mut out);
    for (name, value) in &request.fields {
        write_field(name, value, random, &mut out);
    }
    if request.expect_continue {
        write_field(b"expect", b"100-continue", random, &mut out);
    }
    match random.below(2) {
        0 => write_with_length(&request.body, random, &mut out),
        _ => write_chunked(&request.body, random, &mut out),
    }
    out
}

fn write_field(name: &[u8], value: &[u8], random: &mut Random, out: &mut Vec<u8>) {
    let name = if random.below(3) == 0 { name.to_ascii_uppercase() } else { name.to_vec() };
    let white_space: [&[u8]; 4] = [b"", b" ", b"\t", b" \t "];
    out.extend([&name[..], b":", white_space[random.below(4)], value].concat());
    out.extend([white_space[random.below(4)], b"\r\n"].concat());
}

fn write_with_length(body: &[u8], random: &mut Random, out: &mut Vec<u8>) {
    if !body.is_empty() || random.below(2) == 0 {
        write_field(b"content-length", body.len().to_string().as_bytes(), random, out);
    }
    out.extend([b"\r\n", body].concat());
}

fn write_chunked(body: &[u8], random: &mut Random, out: &mut Vec<u8>) {
    write_field(b"transfer-encoding", b"chunked", random, out);
    out.extend(b"\r\n");
    let extensions: [&str; 4] = ["", ";a", ";a=b;c", " ; a = \"b\\\"\""];
    for chunk in cuts::random(body, 100, random) {
        let extension = extensions[random.below(4)];
        out.extend(format!("{:x}{extension}\r\n", chunk.len()).bytes());
        out.extend([chunk, b"\r\n"].concat());
    }
    let ends: [&[u8]; 3] = [b"0\r\n\r\n", b"000\r\nX-T: 1\r\n\r\n", b"0;z\r\n\r\n"];
    out.extend(ends[random.below(3)]);
}
