//! What a client of a WebSocket sends: the same events and the same fault however it is cut, and,
//! without compression, what a simple reader that sees all of it says.

use std::borrow::Cow;

use pronghorn_proto::websocket::deflate::Options;
use pronghorn_proto::websocket::{Agreement, Close, Decoder, Event, Fault, Inflaters, Limits};

use crate::cuts::{self, Random};

/// What a stream came to: its events, and what it was refused for.
pub type Heard = (Vec<Event<'static>>, Option<Fault>);

/// Panics if `data` is heard in a way no stream may be. Its first byte says what was agreed on.
pub fn check(data: &[u8]) {
    let Some((&first, stream)) = data.split_first() else { return };
    let deflate = agreement(first);
    let whole = hear(&[stream], deflate);
    assert_eq!(whole, hear(&cuts::bytes(stream), deflate));
    let mut random = Random::new(cuts::seed(data));
    assert_eq!(whole, hear(&cuts::random(stream, 20, &mut random), deflate));
    whole.0.iter().for_each(check_event);
    if deflate.is_none() && whole.1.is_none() {
        let read = read_frames(stream);
        assert!(read.starts_with(&whole.0), "{:?} instead of {read:?}", whole.0);
        assert!(read.len() == whole.0.len() || matches!(whole.0.last(), Some(Event::Close(_))));
    }
}

fn agreement(byte: u8) -> Option<Agreement> {
    let takeover = match byte % 3 {
        0 => return None,
        kind => kind == 2,
    };
    let options =
        Options { server_takeover: takeover, client_takeover: takeover, ..Options::default() };
    Agreement::accept(std::iter::empty(), &options)
}

/// What a decoder says of `pieces`.
pub fn hear(pieces: &[&[u8]], deflate: Option<Agreement>) -> Heard {
    let (mut decoder, mut inflaters) = (Decoder::new(deflate), Inflaters::default());
    let mut events = Vec::new();
    for piece in pieces {
        let mut received = piece.to_vec();
        let mut input = &mut received[..];
        loop {
            match decoder.advance(&mut input, &LIMITS, &mut inflaters) {
                Ok(Some(event)) => events.push(owned(event)),
                Ok(None) => break,
                Err(fault) => return (events, Some(fault)),
            }
        }
        assert!(input.is_empty(), "bytes are left that nobody waits for");
    }
    (events, None)
}

fn owned(event: Event<'_>) -> Event<'static> {
    let own = |payload: Cow<'_, [u8]>| Cow::Owned(payload.into_owned());
    match event {
        Event::Text(text) => Event::Text(own(text)),
        Event::Binary(bytes) => Event::Binary(own(bytes)),
        Event::Ping(payload) => Event::Ping(own(payload)),
        Event::Pong(payload) => Event::Pong(own(payload)),
        Event::Close(close) => Event::Close(close),
    }
}

fn check_event(event: &Event<'_>) {
    match event {
        Event::Text(text) => {
            assert!(str::from_utf8(text).is_ok() && text.len() <= LIMITS.message);
        }
        Event::Binary(bytes) => assert!(bytes.len() <= LIMITS.message),
        Event::Ping(payload) | Event::Pong(payload) => assert!(payload.len() <= 125),
        Event::Close(Close { code, reason }) => {
            assert!((1000..5000).contains(code) && reason.len() <= 123);
        }
    }
}

/// The events of a valid stream: frames by the book, nothing checked.
fn read_frames(mut rest: &[u8]) -> Vec<Event<'static>> {
    let mut events = Vec::new();
    let (mut text, mut message) = (false, Vec::new());
    while let Some((first, payload, after)) = read_frame(rest) {
        rest = after;
        match first & 0xF {
            0x8 => events.push(read_close(&payload)),
            0x9 => events.push(Event::Ping(Cow::Owned(payload))),
            0xA => events.push(Event::Pong(Cow::Owned(payload))),
            opcode => {
                text = if opcode == 0 { text } else { opcode == 1 };
                message.extend(payload);
                if first & 0x80 != 0 {
                    let whole = Cow::Owned(std::mem::take(&mut message));
                    events.push(if text { Event::Text(whole) } else { Event::Binary(whole) });
                }
            }
        }
    }
    events
}

/// The first byte of the frame `bytes` begins with, its payload, and what follows it.
fn read_frame(bytes: &[u8]) -> Option<(u8, Vec<u8>, &[u8])> {
    let (&[first, second], rest) = bytes.split_first_chunk()?;
    let (length, rest) = match second & 0x7F {
        126 => {
            let (length, rest) = rest.split_first_chunk()?;
            (usize::from(u16::from_be_bytes(*length)), rest)
        }
        127 => {
            let (length, rest) = rest.split_first_chunk()?;
            (usize::try_from(u64::from_be_bytes(*length)).ok()?, rest)
        }
        short => (usize::from(short), rest),
    };
    let (key, rest) = rest.split_first_chunk::<4>()?;
    let (payload, rest) = rest.split_at_checked(length)?;
    let plain = payload.iter().zip(key.iter().cycle()).map(|(byte, key)| byte ^ key);
    Some((first, plain.collect(), rest))
}

fn read_close(payload: &[u8]) -> Event<'static> {
    let (code, reason) = match payload {
        [high, low, reason @ ..] => (u16::from_be_bytes([*high, *low]), reason),
        _ => (1005, payload),
    };
    Event::Close(Close { code, reason: String::from_utf8_lossy(reason).into_owned() })
}

const LIMITS: Limits = Limits { message: 3000 };
