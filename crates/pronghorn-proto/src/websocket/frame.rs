//! The head of a frame (RFC 6455 section 5.2).

use super::fault::Fault;

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opcode {
    /// The next fragment of the message under way.
    Continuation,
    /// A message of text, or its first fragment.
    Text,
    /// A message of bytes, or its first fragment.
    Binary,
    /// The last frame of a side.
    Close,
    /// Asks for a pong.
    Ping,
    /// Answers a ping, or says "alive" unasked.
    Pong,
}

impl Opcode {
    fn from_bits(bits: u8) -> Result<Opcode, Fault> {
        Ok(match bits {
            0x0 => Opcode::Continuation,
            0x1 => Opcode::Text,
            0x2 => Opcode::Binary,
            0x8 => Opcode::Close,
            0x9 => Opcode::Ping,
            0xA => Opcode::Pong,
            _ => return Err(Fault::Opcode),
        })
    }

    fn bits(self) -> u8 {
        match self {
            Opcode::Continuation => 0x0,
            Opcode::Text => 0x1,
            Opcode::Binary => 0x2,
            Opcode::Close => 0x8,
            Opcode::Ping => 0x9,
            Opcode::Pong => 0xA,
        }
    }

    pub(super) fn is_control(self) -> bool {
        matches!(self, Opcode::Close | Opcode::Ping | Opcode::Pong)
    }
}

/// What the head of a client's frame says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) opcode: Opcode,
    /// Whether it is the last frame of its message.
    pub(super) last: bool,
    /// RSV1, which permessage-deflate gives its meaning.
    pub(super) compressed: bool,
    pub(super) length: u64,
    pub(super) key: [u8; 4],
}

impl Header {
    /// Reads the header that `bytes` begins with, and tells how long it is; `None` if more of it
    /// is to come. What is wrong already is refused already.
    #[inline]
    pub(super) fn parse(bytes: &[u8]) -> Result<Option<(Header, usize)>, Fault> {
        let &[first, ref rest @ ..] = bytes else { return Ok(None) };
        let (last, compressed) = (first & FIN != 0, first & RSV1 != 0);
        let opcode = Opcode::from_bits(first & OPCODE)?;
        let control = opcode.is_control();
        if first & RSV2_AND_3 != 0 || compressed && control {
            return Err(Fault::ReservedBits);
        }
        if control && !last {
            return Err(Fault::ControlFragmented);
        }
        let &[second, ref rest @ ..] = rest else { return Ok(None) };
        if second & MASKED == 0 {
            return Err(Fault::Unmasked);
        }
        let short = second & LENGTH;
        if control && short > LONGEST_CONTROL {
            return Err(Fault::ControlTooLong);
        }
        let Some((length, rest)) = read_length(short, rest)? else { return Ok(None) };
        let Some(&key) = rest.first_chunk() else { return Ok(None) };
        let size = bytes.len() - rest.len() + key.len();
        Ok(Some((Header { opcode, last, compressed, length, key }, size)))
    }
}

/// The length of the payload, which has to be in its shortest form, and what follows it.
#[inline]
fn read_length(short: u8, rest: &[u8]) -> Result<Option<(u64, &[u8])>, Fault> {
    let (length, rest, least) = match short {
        TWO_BYTES => match rest.split_first_chunk() {
            Some((length, rest)) => (u64::from(u16::from_be_bytes(*length)), rest, 126),
            None => return Ok(None),
        },
        EIGHT_BYTES => match rest.split_first_chunk() {
            Some((length, rest)) => (u64::from_be_bytes(*length), rest, 1 << 16),
            None => return Ok(None),
        },
        short => (u64::from(short), rest, 0),
    };
    match (least..1 << 63).contains(&length) {
        true => Ok(Some((length, rest))),
        false => Err(Fault::Length),
    }
}

/// Reads headers from pieces; keeps what there is of one.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeaderReader {
    bytes: [u8; LONGEST_HEADER],
    kept: u8,
}

impl HeaderReader {
    /// Takes the next header from the front of `input`; if it is not all there, takes all.
    #[inline]
    pub(super) fn read(&mut self, input: &mut &mut [u8]) -> Result<Option<Header>, Fault> {
        if self.kept == 0
            && let Some((header, size)) = Header::parse(input)?
        {
            take(input, size);
            return Ok(Some(header));
        }
        self.read_piece(input)
    }

    fn read_piece(&mut self, input: &mut &mut [u8]) -> Result<Option<Header>, Fault> {
        let kept = usize::from(self.kept);
        let copied = input.len().min(LONGEST_HEADER - kept);
        self.bytes[kept..kept + copied].copy_from_slice(&input[..copied]);
        let parsed = Header::parse(&self.bytes[..kept + copied])?;
        let used = parsed.map_or(copied, |(_, size)| size - kept);
        self.kept = if parsed.is_some() { 0 } else { (kept + copied) as u8 };
        take(input, used);
        Ok(parsed.map(|(header, _)| header))
    }
}

/// Takes the first `count` bytes of `input`.
#[inline]
pub(super) fn take<'a>(input: &mut &'a mut [u8], count: usize) -> &'a mut [u8] {
    let (taken, rest) = core::mem::take(input).split_at_mut(count);
    *input = rest;
    taken
}

/// The head of a frame of the server: not masked, the only one of its message.
#[derive(Clone, Copy, Debug)]
pub struct FrameHead {
    bytes: [u8; FrameHead::LONGEST],
    size: u8,
}

impl FrameHead {
    /// The longest there is.
    pub const LONGEST: usize = 10;

    /// The head before `length` bytes of payload, which are deflated if `compressed`.
    #[inline]
    pub fn new(opcode: Opcode, compressed: bool, length: usize) -> FrameHead {
        let mut bytes = [0; FrameHead::LONGEST];
        bytes[0] = FIN | opcode.bits() | if compressed { RSV1 } else { 0 };
        let size = match length {
            0..126 => {
                bytes[1] = length as u8;
                2
            }
            126..0x1_0000 => {
                bytes[1] = TWO_BYTES;
                bytes[2..4].copy_from_slice(&(length as u16).to_be_bytes());
                4
            }
            _ => {
                bytes[1] = EIGHT_BYTES;
                bytes[2..].copy_from_slice(&(length as u64).to_be_bytes());
                10
            }
        };
        FrameHead { bytes, size }
    }

    /// Its bytes.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.size)]
    }
}

const FIN: u8 = 0x80;
const RSV1: u8 = 0x40;
const RSV2_AND_3: u8 = 0x30;
const OPCODE: u8 = 0x0F;
const MASKED: u8 = 0x80;
const LENGTH: u8 = 0x7F;
const LONGEST_CONTROL: u8 = 125;
const TWO_BYTES: u8 = 126;
const EIGHT_BYTES: u8 = 127;

/// Two bytes, eight of length, four of the key.
const LONGEST_HEADER: usize = 14;

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [u8; 4] = *b"\x01\x02\x03\x04";

    fn header(opcode: Opcode, length: u64) -> Header {
        Header { opcode, last: true, compressed: false, length, key: KEY }
    }

    #[test]
    fn headers_are_read() {
        let text = header(Opcode::Text, 5);
        let table: [(&[u8], Header); 7] = [
            (b"\x81\x85\x01\x02\x03\x04", text),
            (b"\xC1\x85\x01\x02\x03\x04", Header { compressed: true, ..text }),
            (b"\x01\x85\x01\x02\x03\x04", Header { last: false, ..text }),
            (b"\x80\xFD\x01\x02\x03\x04", header(Opcode::Continuation, 125)),
            (b"\x82\xFE\x00\x7E\x01\x02\x03\x04", header(Opcode::Binary, 126)),
            (b"\x82\xFE\xFF\xFF\x01\x02\x03\x04", header(Opcode::Binary, 65535)),
            (b"\x82\xFF\0\0\0\0\0\x01\0\0\x01\x02\x03\x04", header(Opcode::Binary, 65536)),
        ];
        for (bytes, expected) in table {
            assert_eq!(Header::parse(bytes), Ok(Some((expected, bytes.len()))), "{bytes:x?}");
            for cut in 0..bytes.len() {
                assert_eq!(Header::parse(&bytes[..cut]), Ok(None), "{bytes:x?} at {cut}");
            }
        }
    }

    #[test]
    fn what_can_only_be_refused_is_not_waited_for() {
        let table: [(&[u8], Fault); 15] = [
            (b"\x91", Fault::ReservedBits),
            (b"\xA1", Fault::ReservedBits),
            (b"\xC8", Fault::ReservedBits),
            (b"\x83", Fault::Opcode),
            (b"\x87", Fault::Opcode),
            (b"\x8B", Fault::Opcode),
            (b"\x8F", Fault::Opcode),
            (b"\x08", Fault::ControlFragmented),
            (b"\x09", Fault::ControlFragmented),
            (b"\x81\x05", Fault::Unmasked),
            (b"\x88\xFE", Fault::ControlTooLong),
            (b"\x8A\xFF", Fault::ControlTooLong),
            (b"\x81\xFE\x00\x7D", Fault::Length),
            (b"\x81\xFF\0\0\0\0\0\0\xFF\xFF", Fault::Length),
            (b"\x81\xFF\x80\0\0\0\0\0\0\0", Fault::Length),
        ];
        for (bytes, fault) in table {
            assert_eq!(Header::parse(bytes), Err(fault), "{bytes:x?}");
            assert_eq!(Header::parse(&bytes[..bytes.len() - 1]), Ok(None), "{bytes:x?}");
        }
    }

    #[test]
    fn every_first_byte_is_a_frame_or_refused() {
        for first in 0..=255_u8 {
            let opcode = [0, 1, 2, 8, 9, 10].contains(&(first & 0xF));
            let control = first & 8 != 0;
            let allowed = opcode && first & 0x30 == 0 && (!control || first & 0xC0 == 0x80);
            let parsed = Header::parse(&[first, 0x80, 1, 2, 3, 4]);
            assert_eq!(parsed.is_ok(), allowed, "{first:#x}: {parsed:?}");
        }
    }

    #[test]
    fn heads_are_as_short_as_they_can_be() {
        let table: [(usize, &[u8]); 6] = [
            (0, b"\x82\x00"),
            (125, b"\x82\x7D"),
            (126, b"\x82\x7E\x00\x7E"),
            (65535, b"\x82\x7E\xFF\xFF"),
            (65536, b"\x82\x7F\0\0\0\0\0\x01\0\0"),
            (1 << 33, b"\x82\x7F\0\0\0\x02\0\0\0\0"),
        ];
        for (length, expected) in table {
            let head = FrameHead::new(Opcode::Binary, false, length);
            assert_eq!(head.as_bytes(), expected, "{length}");
        }
        assert_eq!(FrameHead::new(Opcode::Text, true, 1).as_bytes(), b"\xC1\x01");
        assert_eq!(FrameHead::new(Opcode::Close, false, 2).as_bytes(), b"\x88\x02");
    }
}
