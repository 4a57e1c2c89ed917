//! What holds for every conversation: messages are read back as they were sent, however they were
//! split, compressed and cut.

#[path = "../fuzz/src/cuts.rs"]
#[allow(dead_code, unreachable_pub, reason = "shared with the crate of fuzz targets")]
mod cuts;

use std::borrow::Cow;

use cuts::Random;
use flate2::{Decompress, FlushDecompress, Status};
use pronghorn_proto::websocket::deflate::Options;
use pronghorn_proto::websocket::{
    Agreement, Decoder, Deflaters, Encoder, Event, Fault, FrameHead, Inflaters, Kind, Limits,
    Opcode, mask,
};

/// A message as its application has it.
type Message = (Kind, Vec<u8>);

#[test]
fn messages_are_read_back_as_they_were_sent() {
    let (mut inflaters, mut deflaters) = (Inflaters::default(), Deflaters::default());
    for seed in 0..400 {
        let mut random = Random::new(seed);
        let agreement = any_agreement(&mut random);
        let messages: Vec<Message> = (0..5).map(|_| any_message(&mut random)).collect();
        let mut encoder = Encoder::new(agreement);
        let mut stream = Vec::new();
        for (kind, message) in &messages {
            let mut sent = Vec::new();
            encoder.put(*kind, message, &mut deflaters, &mut sent);
            stream.extend(as_fragments(&sent, &mut random));
        }
        let pieces = cuts::random(&stream, 1 + random.below(3000), &mut random);
        let heard = hear(&pieces, agreement, &mut inflaters);
        assert_eq!(heard, Ok(messages), "seed {seed}: {agreement:?}");
    }
}

#[test]
fn a_client_that_only_knows_deflate_reads_what_is_sent() {
    for level in 1..=9 {
        let mut deflaters = Deflaters::new(level);
        for bits in 9..=15 {
            for takeover in [false, true] {
                let agreement = agreement(takeover, bits);
                let mut encoder = Encoder::new(agreement);
                let mut client = Decompress::new_with_window_bits(false, bits);
                for seed in 0..8 {
                    let (kind, message) = any_message(&mut Random::new(seed));
                    let mut sent = Vec::new();
                    encoder.put(kind, &message, &mut deflaters, &mut sent);
                    let (compressed, payload) = payload(&sent);
                    let read =
                        if compressed { inflate(&mut client, payload) } else { payload.to_vec() };
                    assert_eq!(
                        read, message,
                        "level {level}, {bits} bits, {takeover}, seed {seed}"
                    );
                    if !takeover {
                        client = Decompress::new_with_window_bits(false, bits);
                    }
                }
            }
        }
    }
}

#[test]
fn what_does_not_get_smaller_is_sent_as_it_is() {
    let mut deflaters = Deflaters::default();
    let mut random = Random::new(1);
    let noise: Vec<u8> = (0..2000).map(|_| random.below(256) as u8).collect();
    for message in [&noise[..], &[b'a'; 1023], b""] {
        let mut sent = b"before".to_vec();
        Encoder::new(agreement(false, 15)).put(Kind::Binary, message, &mut deflaters, &mut sent);
        let head = FrameHead::new(Opcode::Binary, false, message.len());
        assert_eq!(sent, [b"before", head.as_bytes(), message].concat());
    }
}

#[test]
fn what_gets_smaller_is_compressed() {
    let mut deflaters = Deflaters::default();
    for takeover in [false, true] {
        let words = "Some words that nobody has said before, at least not here.\n";
        let message = words.repeat(if takeover { 2 } else { 18 });
        let mut sizes = [0; 2];
        let mut encoder = Encoder::new(agreement(takeover, 15));
        for size in &mut sizes {
            let mut sent = Vec::new();
            encoder.put(Kind::Text, message.as_bytes(), &mut deflaters, &mut sent);
            assert_eq!(sent[0], 0xC1);
            *size = sent.len();
        }
        assert!(sizes[0] < 80, "{sizes:?}");
        assert!(if takeover { sizes[1] < 20 } else { sizes[0] == sizes[1] }, "{sizes:?}");
    }
}

#[test]
fn nothing_is_compressed_that_was_not_agreed() {
    let mut sent = Vec::new();
    let mut encoder = Encoder::new(None);
    encoder.put(Kind::Text, &[b'a'; 1000], &mut Deflaters::default(), &mut sent);
    assert!(!encoder.compresses(1000));
    assert_eq!(sent[..4], [0x81, 126, 0x03, 0xE8]);
}

fn any_agreement(random: &mut Random) -> Option<Agreement> {
    match random.below(3) {
        0 => None,
        kind => agreement(kind == 1, 9 + random.below(7) as u8),
    }
}

/// The same for both sides, as what the server sends is read by the server here.
fn agreement(takeover: bool, bits: u8) -> Option<Agreement> {
    let options = Options {
        server_takeover: takeover,
        client_takeover: takeover,
        server_window_bits: bits,
        client_window_bits: bits,
    };
    Agreement::accept([(&b"client_max_window_bits"[..], None)].into_iter(), &options)
}

#[test]
fn a_message_to_many_is_the_same_for_each_and_another_is_not() {
    let mut deflaters = Deflaters::default();
    let (first, second) = ([b'a'; 2000], [b'b'; 2000]);
    let mut put = |bits, message: &[u8]| {
        let mut sent = Vec::new();
        Encoder::new(agreement(false, bits)).put(Kind::Text, message, &mut deflaters, &mut sent);
        let (compressed, payload) = payload(&sent);
        let mut client = Decompress::new_with_window_bits(false, bits);
        assert_eq!((compressed, inflate(&mut client, payload)), (true, message.to_vec()));
        sent
    };
    let sent = put(15, &first);
    assert_eq!(put(15, &first), sent);
    assert_ne!(put(15, &second), sent);
    assert_eq!(put(15, &first), sent);
    put(9, &first);
    put(9, &first[1..]);
    let large = vec![b'c'; 100_000];
    assert_eq!(put(9, &large), put(9, &large));
}

/// Text and bytes, repetitive and not, from nothing to some tens of kilobytes.
fn any_message(random: &mut Random) -> Message {
    let words = ["hello ", "€uro ", "𝄞", "{\"key\": ", "wörld", "0123456789"];
    let count = [0, 3, 30, 300, 3000][random.below(5)];
    if random.below(2) == 0 {
        let text: String = (0..count).map(|_| words[random.below(words.len())]).collect();
        return (Kind::Text, text.into_bytes());
    }
    let range = [1, 4, 256][random.below(3)];
    (Kind::Binary, (0..count * 5).map(|_| random.below(range) as u8).collect())
}

/// Whether the one frame in `sent` is compressed, and its payload.
fn payload(sent: &[u8]) -> (bool, &[u8]) {
    let start = match sent[1] {
        126 => 4,
        127 => 10,
        _ => 2,
    };
    (sent[0] & 0x40 != 0, &sent[start..])
}

/// The frame in `sent` as a client would have sent it: masked, and in fragments.
fn as_fragments(sent: &[u8], random: &mut Random) -> Vec<u8> {
    let (_, payload) = payload(sent);
    let longest = 1 + random.below(payload.len() + 1);
    let mut parts = cuts::random(payload, longest, random);
    if parts.is_empty() || random.below(4) == 0 {
        parts.push(b"");
    }
    let mut stream = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        let opcode = if number == 0 { sent[0] & 0x7F } else { 0 };
        let last = if number + 1 == parts.len() { 0x80 } else { 0 };
        put_masked(opcode | last, part, random, &mut stream);
    }
    stream
}

fn put_masked(first: u8, payload: &[u8], random: &mut Random, out: &mut Vec<u8>) {
    let mut head = FrameHead::new(Opcode::Binary, false, payload.len()).as_bytes().to_vec();
    (head[0], head[1]) = (first, head[1] | 0x80);
    let key = [0; 4].map(|_: u8| random.below(256) as u8);
    let mut masked = payload.to_vec();
    mask(&mut masked, key);
    out.extend([&head[..], &key, &masked].concat());
}

fn hear(
    pieces: &[&[u8]],
    agreement: Option<Agreement>,
    inflaters: &mut Inflaters,
) -> Result<Vec<Message>, Fault> {
    let mut decoder = Decoder::new(agreement);
    let mut messages = Vec::new();
    for piece in pieces {
        let mut received = piece.to_vec();
        let mut input = &mut received[..];
        while let Some(event) = decoder.advance(&mut input, &Limits::default(), inflaters)? {
            messages.push(match event {
                Event::Text(text) => (Kind::Text, Cow::into_owned(text)),
                Event::Binary(bytes) => (Kind::Binary, Cow::into_owned(bytes)),
                event => panic!("{event:?}"),
            });
        }
    }
    Ok(messages)
}

/// Inflates in small steps, so that what is referred to has to be in the client's window.
fn inflate(client: &mut Decompress, payload: &[u8]) -> Vec<u8> {
    let deflated = [payload, b"\x00\x00\xFF\xFF"].concat();
    let (mut message, mut step) = (Vec::new(), [0; 100]);
    let (start, mut used) = (client.total_in(), 0);
    loop {
        let before = client.total_out();
        let status = client.decompress(&deflated[used..], &mut step, FlushDecompress::None);
        let written = (client.total_out() - before) as usize;
        message.extend_from_slice(&step[..written]);
        used = (client.total_in() - start) as usize;
        assert!(matches!(status, Ok(Status::Ok | Status::BufError)), "{status:?}");
        if used == deflated.len() && written < step.len() {
            return message;
        }
    }
}
