//! What a message of a WebSocket costs, in nanoseconds and gigabytes a second; under
//! `valgrind --tool=callgrind` it counts instructions.
//!
//! `websocket_cost [read|text|write|inflate|deflate|broadcast] [size] [repetitions] [level]`

use std::env;
use std::hint::black_box;
use std::time::Instant;

use pronghorn_proto::websocket::deflate::Options;
use pronghorn_proto::websocket::{
    Agreement, Decoder, Deflaters, Encoder, Fault, FrameHead, Inflaters, Kind, Limits, mask,
};

fn main() -> Result<(), Fault> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let number = |place: usize, usual| {
        arguments.get(place).and_then(|text| text.parse().ok()).unwrap_or(usual)
    };
    let (size, repetitions) = (number(1, 16), number(2, 1_000_000));
    let message: Vec<u8> = JSON.bytes().cycle().take(size).collect();
    let what = arguments.first().map_or("read", String::as_str);
    let start = Instant::now();
    let on_the_wire = match what {
        "write" => write(&message, repetitions, None, 1),
        // A message to many is deflated once.
        "broadcast" => broadcast(&message, repetitions),
        "deflate" => write(&message, repetitions, agreement(), number(3, 2) as u32),
        "inflate" => read(&deflated(&message), repetitions, agreement())?,
        "text" => read(&frame(0x81, &message), repetitions, None)?,
        _ => read(&frame(0x82, &message), repetitions, None)?,
    };
    let each = start.elapsed().as_nanos() as f64 / repetitions as f64;
    let rate = size as f64 / each;
    println!("{what} {size} bytes ({on_the_wire} sent): {each:.1} ns, {rate:.2} GB/s");
    Ok(())
}

/// Reads `frame` again and again; the copy it is read from is part of the cost, as the kernel's is.
fn read(frame: &[u8], repetitions: usize, deflate: Option<Agreement>) -> Result<usize, Fault> {
    let (limits, mut inflaters) = (Limits::default(), Inflaters::default());
    let mut decoder = Decoder::new(deflate);
    let mut received = frame.to_vec();
    for _ in 0..repetitions {
        received.copy_from_slice(frame);
        let mut input = &mut received[..];
        black_box(decoder.advance(&mut input, &limits, &mut inflaters)?);
    }
    Ok(frame.len())
}

fn write(message: &[u8], repetitions: usize, deflate: Option<Agreement>, level: u32) -> usize {
    let (mut encoder, mut deflaters) = (Encoder::new(deflate), Deflaters::new(level));
    let mut out = Vec::new();
    let others = [message.to_ascii_uppercase(), message.to_vec()];
    for number in 0..repetitions {
        out.clear();
        encoder.put(Kind::Text, black_box(&others[number % 2]), &mut deflaters, &mut out);
        black_box(&out);
    }
    out.len()
}

fn broadcast(message: &[u8], repetitions: usize) -> usize {
    let (mut encoder, mut deflaters) = (Encoder::new(agreement()), Deflaters::default());
    let mut out = Vec::new();
    for _ in 0..repetitions {
        out.clear();
        encoder.put(Kind::Text, black_box(message), &mut deflaters, &mut out);
        black_box(&out);
    }
    out.len()
}

fn agreement() -> Option<Agreement> {
    Agreement::accept(std::iter::empty(), &Options::default())
}

/// A client's frame.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let head = FrameHead::new(pronghorn_proto::websocket::Opcode::Text, false, payload.len());
    let mut frame = head.as_bytes().to_vec();
    (frame[0], frame[1]) = (first, frame[1] | 0x80);
    let key = [0x37, 0xFA, 0x21, 0x3D];
    frame.extend_from_slice(&key);
    let start = frame.len();
    frame.extend_from_slice(payload);
    mask(&mut frame[start..], key);
    frame
}

/// A client's frame of a message that is compressed, if that makes it smaller.
fn deflated(message: &[u8]) -> Vec<u8> {
    let mut sent = Vec::new();
    Encoder::new(agreement()).put(Kind::Text, message, &mut Deflaters::default(), &mut sent);
    let start = match sent[1] {
        126 => 4,
        127 => 10,
        _ => 2,
    };
    frame(sent[0], &sent[start..])
}

const JSON: &str = "{\"type\": \"message\", \"id\": 48211, \"room\": \"general\", \"from\": \"somebody\", \
    \"text\": \"The quick brown fox jumps over the lazy dog.\", \"at\": 1764543600.25, \
    \"tags\": [\"a\", \"bc\", \"def\"], \"seen\": true}\n";
