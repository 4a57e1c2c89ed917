//! What clients send as a table: each row whole, byte by byte, and cut at every place.

use super::*;
use crate::websocket::deflate::Options;

/// What a stream came to: its events, and what it was refused for.
type Outcome = (Vec<Event<'static>>, Option<Fault>);

/// A frame of a client with `first` as its first byte, masked.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let key = [0x0F, 0xF0, 0x55, 0xAA];
    let mut frame = vec![first];
    match payload.len() {
        length @ 0..126 => frame.push(0x80 | length as u8),
        length @ 126..0x1_0000 => {
            frame.push(0x80 | 126);
            frame.extend((length as u16).to_be_bytes());
        }
        length => {
            frame.push(0x80 | 127);
            frame.extend((length as u64).to_be_bytes());
        }
    }
    frame.extend(key);
    let start = frame.len();
    frame.extend(payload);
    crate::websocket::mask(&mut frame[start..], key);
    frame
}

fn listen(pieces: &[&[u8]], deflate: Option<Agreement>, limits: &Limits) -> Outcome {
    let (mut decoder, mut inflaters) = (Decoder::new(deflate), Inflaters::default());
    let mut events = Vec::new();
    for piece in pieces {
        let mut received = piece.to_vec();
        let mut input = &mut received[..];
        loop {
            match decoder.advance(&mut input, limits, &mut inflaters) {
                Ok(None) => break,
                Ok(Some(event)) => events.push(owned(event)),
                Err(fault) => {
                    assert!(decoder.is_over());
                    return (events, Some(fault));
                }
            }
        }
        assert!(input.is_empty());
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

/// The outcome of `stream`, which does not depend on how it is cut.
fn outcome_within(stream: &[u8], deflate: Option<Agreement>, limits: &Limits) -> Outcome {
    let whole = listen(&[stream], deflate, limits);
    let bytes: Vec<&[u8]> = stream.chunks(1).collect();
    assert_eq!(listen(&bytes, deflate, limits), whole, "byte by byte: {stream:x?}");
    for cut in 0..stream.len() {
        let (first, second) = stream.split_at(cut);
        assert_eq!(listen(&[first, second], deflate, limits), whole, "{cut}: {stream:x?}");
    }
    whole
}

fn outcome(frames: &[Vec<u8>]) -> Outcome {
    outcome_within(&frames.concat(), None, &LIMITS)
}

fn agreement(takeover: bool) -> Option<Agreement> {
    let options =
        Options { server_takeover: takeover, client_takeover: takeover, ..Options::default() };
    Agreement::accept(core::iter::empty(), &options)
}

fn outcome_compressed(frames: &[Vec<u8>], takeover: bool) -> Outcome {
    outcome_within(&frames.concat(), agreement(takeover), &LIMITS)
}

fn text(text: &str) -> Event<'_> {
    Event::Text(Cow::Borrowed(text.as_bytes()))
}

fn binary(bytes: &[u8]) -> Event<'_> {
    Event::Binary(Cow::Borrowed(bytes))
}

const LIMITS: Limits = Limits { message: 1000 };

const CONTINUATION: u8 = 0x00;
const TEXT: u8 = 0x01;
const BINARY: u8 = 0x02;
const CLOSE: u8 = 0x88;
const PING: u8 = 0x89;
const PONG: u8 = 0x8A;
const LAST: u8 = 0x80;
const COMPRESSED: u8 = 0x40;

/// "Hello" deflated, the example of RFC 7692 section 7.2.3.1.
const HELLO: &[u8] = b"\xF2\x48\xCD\xC9\xC9\x07\x00";

#[test]
fn messages_and_control_frames_are_read() {
    let frames = [
        frame(TEXT | LAST, "aé€𝄞".as_bytes()),
        frame(BINARY | LAST, b"\xFF\x00"),
        frame(TEXT | LAST, b""),
        frame(PING, b"p"),
        frame(PONG, b""),
        frame(PING, &[b'x'; 125]),
        frame(BINARY | LAST, &[1; 126]),
        frame(CLOSE, b"\x0F\xA1bye"),
        frame(TEXT | LAST, b"too late"),
        b"\xFF\xFF".to_vec(),
    ];
    let (events, fault) = outcome(&frames);
    let expected = [
        text("aé€𝄞"),
        binary(b"\xFF\x00"),
        text(""),
        Event::Ping(Cow::Borrowed(b"p")),
        Event::Pong(Cow::Borrowed(b"")),
        Event::Ping(Cow::Borrowed(&[b'x'; 125])),
        binary(&[1; 126]),
        Event::Close(Close { code: 4001, reason: "bye".to_owned() }),
    ];
    assert_eq!((&events[..], fault), (&expected[..], None));
}

#[test]
fn fragments_are_joined_and_control_frames_come_between_them() {
    let frames = [
        frame(TEXT, b""),
        frame(CONTINUATION, b"a\xE2"),
        frame(PING, b"1"),
        frame(CONTINUATION, b"\x82"),
        frame(PONG, b"2"),
        frame(CONTINUATION | LAST, b"\xACb"),
        frame(BINARY, b"\xFF"),
        frame(CONTINUATION | LAST, b""),
    ];
    let expected = [
        Event::Ping(Cow::Borrowed(b"1")),
        Event::Pong(Cow::Borrowed(b"2")),
        text("a€b"),
        binary(b"\xFF"),
    ];
    let (events, fault) = outcome(&frames);
    assert_eq!((&events[..], fault), (&expected[..], None));
}

#[test]
fn a_long_message_is_read_however_it_is_cut() {
    let payload: Vec<u8> = (0..200_000_u32).map(|n| n as u8).collect();
    let stream = frame(BINARY | LAST, &payload);
    let limits = Limits::default();
    for size in [1, 7, 13, 4096, 65536, stream.len()] {
        let pieces: Vec<&[u8]> = stream.chunks(size).collect();
        assert_eq!(listen(&pieces, None, &limits), (vec![binary(&payload)], None), "{size}");
    }
}

#[test]
fn what_breaks_the_protocol_is_refused_with_its_code() {
    let table = [
        (vec![frame(CONTINUATION | LAST, b"a")], Fault::Continuation, 1002),
        (vec![frame(CONTINUATION, b"")], Fault::Continuation, 1002),
        (vec![frame(TEXT, b"a"), frame(TEXT | LAST, b"b")], Fault::Interrupted, 1002),
        (vec![frame(BINARY, b""), frame(BINARY, b"")], Fault::Interrupted, 1002),
        (vec![frame(TEXT | LAST | COMPRESSED, HELLO)], Fault::ReservedBits, 1002),
        (vec![frame(TEXT | LAST | 0x20, b"a")], Fault::ReservedBits, 1002),
        (vec![frame(PING & !LAST, b"a")], Fault::ControlFragmented, 1002),
        (vec![frame(CLOSE, b"\x03")], Fault::CloseCode, 1002),
        (vec![frame(CLOSE, b"\x03\xED")], Fault::CloseCode, 1002),
        (vec![frame(CLOSE, b"\x03\xE8\xFF")], Fault::Utf8, 1007),
        (vec![frame(0x83, b"")], Fault::Opcode, 1002),
        (vec![b"\x81\x01a".to_vec()], Fault::Unmasked, 1002),
        (vec![b"\x81\xFE\x00\x01".to_vec()], Fault::Length, 1002),
        (vec![frame(PING, &[0; 126])], Fault::ControlTooLong, 1002),
        (vec![frame(TEXT | LAST, b"a\xFF")], Fault::Utf8, 1007),
        (vec![frame(TEXT | LAST, b"a\xC3")], Fault::Utf8, 1007),
        (vec![frame(TEXT, b"a\xC3"), frame(CONTINUATION | LAST, b"")], Fault::Utf8, 1007),
        (vec![frame(TEXT, b"a\xC3"), frame(CONTINUATION, b"(")], Fault::Utf8, 1007),
    ];
    for (frames, fault, code) in table {
        assert_eq!(outcome(&frames), (Vec::new(), Some(fault)), "{frames:x?}");
        assert_eq!(fault.code(), code);
        assert!(fault.message().len() <= crate::websocket::close::LONGEST_REASON);
    }
}

#[test]
fn text_fails_at_the_byte_that_makes_it_wrong() {
    // The frame is announced as longer, and it is not the last one.
    let mut stream = frame(TEXT, b"a\xE2\x82\xFFbcdef");
    stream.truncate(6 + 4);
    assert_eq!(outcome_within(&stream, None, &LIMITS), (Vec::new(), Some(Fault::Utf8)));
    stream.truncate(6 + 3);
    assert_eq!(outcome_within(&stream, None, &LIMITS), (Vec::new(), None));
}

#[test]
fn a_message_that_gets_too_large_is_refused_by_the_header() {
    let whole = frame(BINARY | LAST, &[0; 1000]);
    assert_eq!(outcome(&[whole]), (vec![binary(&[0; 1000])], None));
    let too_large = frame(BINARY | LAST, &[0; 1001]);
    let (before, header) = (&too_large[..7], &too_large[..8]);
    assert_eq!(outcome_within(before, None, &LIMITS), (Vec::new(), None));
    assert_eq!(outcome_within(header, None, &LIMITS), (Vec::new(), Some(Fault::MessageTooLarge)));
    let fragments = [frame(BINARY, &[0; 600]), frame(CONTINUATION, &[0; 401])].concat();
    let header = &fragments[..8 + 600 + 8];
    assert_eq!(outcome_within(header, None, &LIMITS), (Vec::new(), Some(Fault::MessageTooLarge)));
    let largest = b"\x82\xFF\x7F\xFF\xFF\xFF\xFF\xFF\xFF\xFF\0\0\0\0";
    assert_eq!(outcome_within(largest, None, &LIMITS), (Vec::new(), Some(Fault::MessageTooLarge)));
    assert_eq!(Fault::MessageTooLarge.code(), 1009);
}

#[test]
fn a_limit_that_is_lowered_meanwhile_holds_for_what_comes() {
    let streams = [
        (frame(BINARY, &[0; 600]), frame(CONTINUATION, b"a")),
        (frame(TEXT | COMPRESSED, HELLO), frame(CONTINUATION, HELLO)),
    ];
    for (mut before, mut after) in streams {
        let (mut decoder, mut inflaters) = (Decoder::new(agreement(false)), Inflaters::default());
        let advanced = decoder.advance(&mut &mut before[..], &LIMITS, &mut inflaters);
        assert_eq!(advanced, Ok(None));
        let lower = Limits { message: 2 };
        let advanced = decoder.advance(&mut &mut after[..], &lower, &mut inflaters);
        assert_eq!(advanced, Err(Fault::MessageTooLarge));
    }
}

#[test]
fn a_message_of_empty_frames_ends() {
    let empty = |count| {
        let frames = core::iter::once(frame(TEXT, b""));
        frames.chain(core::iter::repeat_n(frame(CONTINUATION, b""), count)).collect::<Vec<_>>()
    };
    let stream = empty(1023).concat();
    assert_eq!(listen(&[&stream], None, &LIMITS), (Vec::new(), None));
    let stream = empty(1024).concat();
    assert_eq!(listen(&[&stream], None, &LIMITS), (Vec::new(), Some(Fault::EmptyFrames)));
    assert_eq!(Fault::EmptyFrames.code(), 1008);
}

#[test]
fn the_examples_of_rfc_7692_are_inflated() {
    let table: [&[&[u8]]; 5] = [
        &[HELLO],
        &[b"\xF2\x48\xCD", b"\xC9\xC9\x07\x00"],
        // A block without compression; one that says it is the last; two blocks.
        &[b"\x00\x05\x00\xFA\xFFHello\x00"],
        &[b"\xF3\x48\xCD\xC9\xC9\x07\x00\x00"],
        &[b"\xF2\x48\x05\x00\x00\x00\xFF\xFF\xCA\xC9\xC9\x07\x00"],
    ];
    for fragments in table {
        let mut frames: Vec<Vec<u8>> =
            fragments.iter().map(|part| frame(CONTINUATION, part)).collect();
        frames[0][0] |= TEXT | COMPRESSED;
        if let Some(last) = frames.last_mut() {
            last[0] |= LAST;
        }
        for takeover in [false, true] {
            let outcome = outcome_compressed(&frames, takeover);
            assert_eq!(outcome, (vec![text("Hello")], None), "{fragments:x?}");
        }
    }
}

#[test]
fn contexts_are_taken_over_only_if_agreed() {
    // The second message refers to the first one (RFC 7692 section 7.2.3.2).
    let frames = [
        frame(TEXT | LAST | COMPRESSED, HELLO),
        frame(TEXT | LAST, b"plain"),
        frame(TEXT | LAST | COMPRESSED, b"\xF2\x00\x11\x00\x00"),
    ];
    let both = (vec![text("Hello"), text("plain"), text("Hello")], None);
    assert_eq!(outcome_compressed(&frames, true), both);
    let refused = (vec![text("Hello"), text("plain")], Some(Fault::Compression));
    assert_eq!(outcome_compressed(&frames, false), refused);
}

#[test]
fn a_last_block_does_not_end_the_message_or_the_connection() {
    // A last block, then one that refers to what was in it.
    let frames = [
        frame(BINARY | LAST | COMPRESSED, b"\xF3\x48\xCD\xC9\xC9\x07\x00\x02\x13\x00\x00"),
        frame(TEXT | LAST | COMPRESSED, b"\xF3\x48\xCD\xC9\xC9\x07\x00"),
        frame(TEXT | LAST | COMPRESSED, HELLO),
    ];
    for takeover in [false, true] {
        let (events, fault) = outcome_compressed(&frames, takeover);
        assert_eq!((events.len(), fault), (3, None), "{events:?}");
        assert_eq!(events[1..], [text("Hello"), text("Hello")]);
    }
}

#[test]
fn last_blocks_are_counted() {
    let message = |blocks| frame(TEXT | LAST | COMPRESSED, &b"\x03\x00".repeat(blocks));
    for takeover in [false, true] {
        let most = outcome_compressed(&[message(16), message(16)], takeover);
        assert_eq!(most, (vec![text(""), text("")], None));
        let more = outcome_compressed(&[message(18)], takeover);
        assert_eq!(more, (Vec::new(), Some(Fault::Compression)));
    }
}

#[test]
fn empty_messages_are_empty_compressed_or_not() {
    for payload in [&b"\x00"[..], b"\x02\x00", b""] {
        let message = frame(TEXT | LAST | COMPRESSED, payload);
        let frames = [message.clone(), message, frame(TEXT | LAST | COMPRESSED, HELLO)];
        for takeover in [false, true] {
            let outcome = outcome_compressed(&frames, takeover);
            assert_eq!(outcome, (vec![text(""), text(""), text("Hello")], None), "{payload:x?}");
        }
    }
}

#[test]
fn what_breaks_the_rules_of_compression_is_refused() {
    let table = [
        (vec![frame(BINARY | LAST | COMPRESSED, b"\x07")], Fault::Compression),
        (vec![frame(BINARY | COMPRESSED, b"\x07")], Fault::Compression),
        (vec![frame(PING | COMPRESSED, HELLO)], Fault::ReservedBits),
        (vec![frame(TEXT | COMPRESSED, HELLO), frame(COMPRESSED | LAST, b"")], Fault::ReservedBits),
        (vec![frame(TEXT, b"a"), frame(COMPRESSED | LAST, HELLO)], Fault::ReservedBits),
        // A block without compression: text that is none, and text that stops within a character.
        (vec![frame(TEXT | COMPRESSED, b"\x00\x02\x00\xFD\xFFa\xFF")], Fault::Utf8),
        (vec![frame(TEXT | LAST | COMPRESSED, b"\x00\x02\x00\xFD\xFFa\xC3\x00")], Fault::Utf8),
    ];
    for (frames, fault) in table {
        for takeover in [false, true] {
            let outcome = outcome_compressed(&frames, takeover);
            assert_eq!(outcome, (Vec::new(), Some(fault)), "{frames:x?}");
        }
    }
}

#[test]
fn what_is_wrong_first_in_the_message_counts() {
    let stored = |data: &[u8]| {
        let length = data.len() as u16;
        [&[0][..], &length.to_le_bytes(), &(!length).to_le_bytes(), data].concat()
    };
    let corrupt = b"\x07";
    let mut not_text = [b'a'; 1002];
    not_text[999] = 0xFF;
    let mut not_text_beyond = [b'a'; 1002];
    not_text_beyond[1000] = 0xFF;
    let table = [
        ([&stored(&not_text)[..], corrupt].concat(), Fault::Utf8),
        ([&stored(&not_text_beyond)[..], corrupt].concat(), Fault::MessageTooLarge),
        ([&stored(&[b'a'; 1000])[..], corrupt].concat(), Fault::Compression),
    ];
    for (payload, fault) in table {
        let stream = frame(TEXT | LAST | COMPRESSED, &payload);
        let outcome = outcome_within(&stream, agreement(false), &LIMITS);
        assert_eq!(outcome, (Vec::new(), Some(fault)));
    }
}

/// A megabyte of zeros, deflated to a kilobyte.
#[test]
fn a_message_that_inflates_too_large_is_not_inflated_whole() {
    let mut deflate = flate2::Compress::new(flate2::Compression::best(), false);
    let mut bomb = Vec::with_capacity(4096);
    let status = deflate.compress_vec(&[0; 1 << 20], &mut bomb, flate2::FlushCompress::Sync);
    assert!(status.is_ok() && bomb.len() < 2048);
    let stream = frame(BINARY | LAST | COMPRESSED, &bomb[..bomb.len() - 4]);
    for takeover in [false, true] {
        let outcome = outcome_within(&stream, agreement(takeover), &LIMITS);
        assert_eq!(outcome, (Vec::new(), Some(Fault::MessageTooLarge)));
    }
    let limits = Limits { message: 1 << 20 };
    let (events, fault) = listen(&[&stream], agreement(false), &limits);
    assert_eq!((events, fault), (vec![binary(&[0; 1 << 20])], None));
}

#[test]
fn messages_in_one_piece_are_not_copied() {
    let mut received = [frame(TEXT | LAST, b"abc"), frame(BINARY | LAST, b"def")].concat();
    let mut input = &mut received[..];
    let mut decoder = Decoder::default();
    let mut borrowed = Vec::new();
    let mut inflaters = Inflaters::default();
    while let Ok(Some(event)) = decoder.advance(&mut input, &LIMITS, &mut inflaters) {
        match event {
            Event::Text(Cow::Borrowed(part)) | Event::Binary(Cow::Borrowed(part)) => {
                borrowed.push(part);
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(borrowed, [b"abc", b"def"]);
}

#[test]
fn what_is_pending_is_told() {
    let mut received = frame(BINARY | LAST, &[0; 500]);
    let mut decoder = Decoder::default();
    let mut inflaters = Inflaters::default();
    assert_eq!(decoder.pending(), 0);
    let (mut first, mut second) = received.split_at_mut(108);
    assert_eq!(decoder.advance(&mut first, &LIMITS, &mut inflaters), Ok(None));
    assert_eq!(decoder.pending(), 400);
    assert!(decoder.advance(&mut second, &LIMITS, &mut inflaters).is_ok());
    assert_eq!(decoder.pending(), 0);
}

#[test]
fn an_idle_decoder_is_small() {
    assert!(size_of::<Decoder>() <= 160, "{}", size_of::<Decoder>());
}
