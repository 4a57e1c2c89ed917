//! Frames of RFC 6455, as far as a client that never fragments needs them.

use std::io;

/// How many bytes at the beginning of each message are its own; the others are the same in all.
pub(crate) const STAMP: usize = 8;

pub(crate) const BINARY: u8 = 2;
pub(crate) const CLOSE: u8 = 8;
pub(crate) const PING: u8 = 9;
pub(crate) const PONG: u8 = 10;

/// A frame that a server sent, at the beginning of what was received.
#[derive(Debug, PartialEq)]
pub(crate) struct Frame<'a> {
    pub(crate) opcode: u8,
    pub(crate) payload: &'a [u8],
    /// How many bytes the frame takes, with its header.
    pub(crate) length: usize,
}

/// The first frame of `received`; None: more has to come.
pub(crate) fn parse(received: &[u8]) -> io::Result<Option<Frame<'_>>> {
    let &[first, second, ..] = received else { return Ok(None) };
    if first & 0xf0 != FIN || second & MASKED != 0 {
        return Err(io::Error::other("the server sent a fragment, a reserved bit or a mask"));
    }
    let Some((header, size)) = payload_size(second, received) else { return Ok(None) };
    let length = header + size;
    let frame = |payload| Frame { opcode: first & 0x0f, payload, length };
    Ok(received.get(header..length).map(frame))
}

/// The sizes of header and payload (RFC 6455 5.2).
fn payload_size(second: u8, received: &[u8]) -> Option<(usize, usize)> {
    match second {
        126 => {
            let size = received.get(2..4)?.try_into().ok()?;
            Some((4, usize::from(u16::from_be_bytes(size))))
        }
        127 => {
            let size = received.get(2..10)?.try_into().ok()?;
            Some((10, usize::try_from(u64::from_be_bytes(size)).ok()?))
        }
        size => Some((2, usize::from(size))),
    }
}

/// A masked message to send again and again, each time with another stamp.
#[derive(Clone)]
pub(crate) struct Outgoing {
    frame: Vec<u8>,
    payload: usize,
}

impl Outgoing {
    pub(crate) fn new(opcode: u8, payload: &[u8]) -> Self {
        let mut frame = vec![FIN | opcode];
        match payload.len() {
            size @ 0..126 => frame.push(MASKED | size as u8),
            size @ 126..0x1_0000 => {
                frame.push(MASKED | 126);
                frame.extend((size as u16).to_be_bytes());
            }
            size => {
                frame.push(MASKED | 127);
                frame.extend((size as u64).to_be_bytes());
            }
        }
        frame.extend(MASK);
        let start = frame.len();
        frame.extend(payload.iter().zip(MASK.iter().cycle()).map(|(byte, mask)| byte ^ mask));
        Self { frame, payload: start }
    }

    /// The frame, with `stamp` as the first bytes of the payload.
    pub(crate) fn stamped(&mut self, stamp: [u8; STAMP]) -> &[u8] {
        for (index, byte) in stamp.iter().enumerate() {
            self.frame[self.payload + index] = byte ^ MASK[index % MASK.len()];
        }
        &self.frame
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.frame
    }
}

/// What all messages of `size` bytes hold after their stamp, and a stamp of zeros.
pub(crate) fn pattern(size: usize) -> Vec<u8> {
    (0..size).map(|index| if index < STAMP { 0 } else { (index % 251) as u8 }).collect()
}

const FIN: u8 = 0x80;
const MASKED: u8 = 0x80;
/// Any but zero, which a server could take for no mask.
const MASK: [u8; 4] = [0x37, 0xfa, 0x21, 0x3d];

#[cfg(test)]
mod tests {
    use super::{BINARY, Frame, Outgoing, parse, pattern};

    #[test]
    fn a_frame_is_found_once_it_is_there_as_a_whole() {
        for (header, size) in [
            (&[0x82, 3][..], 3),
            (&[0x82, 126, 1, 0][..], 256),
            (&[0x82, 127, 0, 0, 0, 0, 0, 1, 0, 0][..], 65536),
        ] {
            let payload = pattern(size);
            let whole = [header, &payload, b"next"].concat();
            let length = header.len() + size;
            for cut in [0, 1, header.len(), length - 1] {
                assert_eq!(parse(&whole[..cut]).expect("it is legal"), None, "{size} cut at {cut}");
            }
            let frame = Frame { opcode: BINARY, payload: &payload, length };
            assert_eq!(parse(&whole).expect("it is legal"), Some(frame));
        }
    }

    #[test]
    fn fragments_reserved_bits_and_masks_are_refused() {
        for illegal in [[0x02, 0], [0xc2, 0], [0x82, 0x80]] {
            assert!(parse(&illegal).is_err(), "{illegal:?}");
        }
    }

    #[test]
    fn a_message_is_masked_and_takes_a_new_stamp() {
        let mut message = Outgoing::new(BINARY, &pattern(10));
        let expected = [
            0x82, 0x8a, 0x37, 0xfa, 0x21, 0x3d, 0x36, 0xf8, 0x22, 0x39, 0x32, 0xfc, 0x26, 0x35,
            0x3f, 0xf3,
        ];
        assert_eq!(message.stamped([1, 2, 3, 4, 5, 6, 7, 8]), expected);
    }

    #[test]
    fn the_length_takes_as_many_bytes_as_it_needs() {
        for (size, header) in [(125, 6), (126, 8), (65535, 8), (65536, 14)] {
            assert_eq!(Outgoing::new(BINARY, &pattern(size)).as_bytes().len(), header + size);
        }
    }
}
