//! Runs the checks of the fuzz targets over their committed corpora, over the inputs of the corpus
//! of requests, and over seeded mutations of both.
#![allow(unreachable_pub, reason = "the modules are shared with the crate of fuzz targets")]

#[path = "corpus/case.rs"]
#[allow(dead_code, reason = "only the inputs of the cases are used here")]
mod case;
#[path = "../fuzz/src/chunked.rs"]
mod chunked;
#[path = "../fuzz/src/conversation.rs"]
mod conversation;
#[path = "../fuzz/src/cuts.rs"]
mod cuts;
#[path = "../fuzz/src/handshake.rs"]
mod handshake;
#[path = "../fuzz/src/head.rs"]
mod head;
#[path = "../fuzz/src/proxies.rs"]
mod proxies;
#[path = "../fuzz/src/request.rs"]
mod request;
#[path = "../fuzz/src/websocket.rs"]
mod websocket;

use std::fs;
use std::path::Path;

use cuts::Random;

#[test]
fn handshake_corpus() {
    replay("handshake", handshake::check);
}

#[test]
fn head_corpus() {
    replay("head", head::check);
}

#[test]
fn chunked_corpus() {
    replay("chunked", chunked::check);
}

#[test]
fn proxies_corpus() {
    replay("proxies", proxies::check);
}

#[test]
fn request_corpus() {
    replay("request", request::check);
}

#[test]
fn websocket_corpus() {
    replay("websocket", websocket::check);
}

fn replay(target: &str, check: fn(&[u8])) {
    let mut inputs = committed(target);
    assert!(!inputs.is_empty(), "no corpus for {target}");
    inputs.extend(case::read_all().into_iter().map(|case| relevant(target, case.input)));
    inputs.retain(|input| input.len() < LONGEST);
    let mut random = Random::new(1);
    for input in &inputs {
        check(input);
        for _ in 0..MUTATIONS {
            check(&mutate(input, &mut random));
        }
    }
}

fn committed(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(target);
    let entries = fs::read_dir(folder).expect("the corpus is beside the crate");
    entries.map(|entry| fs::read(entry.expect("listed").path()).expect("readable")).collect()
}

/// The part of a case that `target` is about: what follows the head, or all of it.
fn relevant(target: &str, mut input: Vec<u8>) -> Vec<u8> {
    let head_end = input.windows(4).position(|bytes| bytes == b"\r\n\r\n");
    match head_end {
        Some(end) if target == "chunked" => input.split_off(end + 4),
        _ => input,
    }
}

/// `input` with one to three small changes of the kind that break parsers.
fn mutate(input: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = input.to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len() + 1);
        let token = TOKENS[random.below(TOKENS.len())];
        match random.below(4) {
            0 => drop(bytes.splice(at..at, token.iter().copied())),
            1 => drop(bytes.drain(at..(at + random.below(4)).min(bytes.len()))),
            2 if at < bytes.len() => bytes[at] = random.below(256) as u8,
            _ => bytes.truncate(at),
        }
    }
    bytes
}

const TOKENS: &[&[u8]] = &[
    b"\r\n",
    b"\n",
    b"\r",
    b"\0",
    b" ",
    b"\t",
    b":",
    b",",
    b";",
    b"0\r\n\r\n",
    b"\r\n\r\n",
    b"\xff",
    b"Content-Length: 3\r\n",
    b"Transfer-Encoding: chunked\r\n",
    b"Host: a\r\n",
    b"chunked",
    b"HTTP/1.",
    b"fffffffffffffff",
    b"\"",
    b"\\",
    b"http://",
    b"*",
    b"[::1]",
    b"Connection: close\r\n",
    b"Upgrade: websocket\r\n",
    b"; client_max_window_bits",
    b"permessage-deflate, ",
    b"\x00\x80\0\0\0\0",
    b"\x89\x80\0\0\0\0",
    b"\x01\x00\x00\xff\xff",
];

/// Mutations of each input.
const MUTATIONS: usize = 40;

/// Inputs at the edges of the large limits are left to the corpus test.
const LONGEST: usize = 2000;
