//! The least of a WebSocket echo: read a frame, unmask it in place, send it back.

use std::os::fd::OwnedFd;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net;

/// Answers the handshake or echoes one message; false ends the connection.
///
/// The load generator waits for each message before it sends the next, never fragments and always shakes hands with
/// the key of RFC 6455 1.3, so that the answer is a constant.
pub(crate) fn answer(connection: &OwnedFd, buffer: &mut [u8]) -> bool {
    match net::recv(connection, &mut *buffer, net::RecvFlags::empty()) {
        Ok((0, _)) => false,
        Ok(_) if buffer.starts_with(b"GET ") => send(connection, HANDSHAKE),
        Ok((length, _)) => echo(connection, buffer, length).is_some(),
        Err(error) => error == Errno::AGAIN || error == Errno::INTR,
    }
}

/// Sends back the frame whose first `length` bytes are in `buffer`; None: that is not possible.
fn echo(connection: &OwnedFd, buffer: &mut [u8], length: usize) -> Option<()> {
    let header = Header::of(buffer.get(..length)?)?;
    receive_rest(connection, buffer.get_mut(length..header.payload + header.size)?)?;
    if buffer[0] & 0x0f == CLOSE {
        return None;
    }
    let mask: [u8; 4] = buffer[header.payload - 4..header.payload].try_into().ok()?;
    let payload = &mut buffer[header.payload..header.payload + header.size];
    unmask(payload, mask);
    // The answer's header is the same without the mask: it fits where that was.
    let start = 4;
    buffer.copy_within(0..header.payload - 4, start);
    buffer[start + 1] &= 0x7f;
    send(connection, &buffer[start..header.payload + header.size]).then_some(())
}

/// Where the payload of a masked frame begins, and its size (RFC 6455 5.2).
struct Header {
    payload: usize,
    size: usize,
}

impl Header {
    fn of(frame: &[u8]) -> Option<Self> {
        match frame.get(1)? & 0x7f {
            126 => {
                let size = u16::from_be_bytes(frame.get(2..4)?.try_into().ok()?);
                Some(Self { payload: 8, size: usize::from(size) })
            }
            127 => None, // larger than the buffer
            size => Some(Self { payload: 6, size: usize::from(size) }),
        }
    }
}

/// Eight bytes at a time: simple enough for the compiler to make it wider.
fn unmask(payload: &mut [u8], mask: [u8; 4]) {
    let wide = u64::from_ne_bytes([mask, mask].concat().try_into().unwrap_or_default());
    let (chunks, rest) = payload.as_chunks_mut::<8>();
    for chunk in chunks {
        *chunk = (u64::from_ne_bytes(*chunk) ^ wide).to_ne_bytes();
    }
    for (byte, mask) in rest.iter_mut().zip(mask.iter().cycle()) {
        *byte ^= mask;
    }
}

fn receive_rest(connection: &OwnedFd, mut rest: &mut [u8]) -> Option<()> {
    while !rest.is_empty() {
        match net::recv(connection, &mut *rest, net::RecvFlags::empty()) {
            Ok((0, _)) => return None,
            Ok((length, _)) => rest = &mut rest[length..],
            Err(Errno::AGAIN) => {
                let patience = Timespec { tv_sec: 10, tv_nsec: 0 };
                poll(&mut [PollFd::new(connection, PollFlags::IN)], Some(&patience)).ok()?;
            }
            Err(Errno::INTR) => {}
            Err(_) => return None,
        }
    }
    Some(())
}

fn send(connection: &OwnedFd, bytes: &[u8]) -> bool {
    net::send(connection, bytes, net::SendFlags::NOSIGNAL) == Ok(bytes.len())
}

const CLOSE: u8 = 8;
const HANDSHAKE: &[u8] = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\
    Connection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

#[cfg(test)]
mod tests {
    use super::unmask;

    #[test]
    fn every_byte_is_unmasked() {
        for size in [0, 3, 4, 8, 13, 16] {
            let mask = [1, 2, 3, 4];
            let mut payload: Vec<u8> =
                (0..size).map(|index| index as u8 ^ mask[index % 4]).collect();
            unmask(&mut payload, mask);
            assert!(payload.iter().enumerate().all(|(index, byte)| index == usize::from(*byte)));
        }
    }
}
