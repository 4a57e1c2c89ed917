//! What is left of a response when the socket is full, and sending it when there is room.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, IoSlice};
use std::os::fd::AsFd;

use crate::sys;

/// Bytes that somebody else owns, kept until they are sent.
pub type Retained = Box<dyn AsRef<[u8]> + Send>;

/// At most this many writes, each of up to a megabyte, go to one connection before others have their turn.
const WRITES_A_TURN: usize = 8;

/// At most this many pieces go into one write.
const GATHER: usize = 16;

/// Room for so many bytes is made at the least where more are likely to be appended.
const LEAST_APPENDED: usize = 256;

/// A part of a response.
pub(crate) enum Piece {
    /// Bytes, from the offset on.
    Owned(Vec<u8>, usize),
    /// Bytes of the application, from one offset to another.
    Retained(Retained, usize, usize),
    /// A part of a file: offset and length.
    File(File, u64, u64),
}

/// The pieces of a response not yet sent.
#[derive(Default)]
pub(crate) struct Output {
    pieces: VecDeque<Piece>,
    /// Bytes that the kernel took and nobody counted yet.
    sent: u64,
    /// Bytes in memory that wait.
    waiting: usize,
}

/// What a flush came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Flushed {
    /// Everything is with the kernel.
    All,
    /// The socket is full.
    Full,
    /// The socket takes more, but others are to have their turn.
    More,
}

impl Output {
    pub(crate) fn push(&mut self, piece: Piece) {
        if !piece.is_empty() {
            self.waiting += piece.bytes().map_or(0, <[u8]>::len);
            self.pieces.push_back(piece);
        }
    }

    /// Copies these behind what waits.
    pub(crate) fn append(&mut self, parts: [&[u8]; 3]) {
        let length = parts.iter().map(|part| part.len()).sum::<usize>();
        if !matches!(self.pieces.back(), Some(Piece::Owned(..))) {
            self.pieces.push_back(Piece::Owned(Vec::with_capacity(length.max(LEAST_APPENDED)), 0));
        }
        if let Some(Piece::Owned(bytes, _)) = self.pieces.back_mut() {
            parts.iter().for_each(|part| bytes.extend_from_slice(part));
            self.waiting += length;
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// How many bytes in memory wait to be sent.
    pub(crate) fn waiting(&self) -> usize {
        self.waiting
    }

    /// Bytes that went out since they were counted last.
    pub(crate) fn sent(&self) -> u64 {
        self.sent
    }

    /// Bytes that went out since this was asked before.
    pub(crate) fn take_sent(&mut self) -> u64 {
        std::mem::take(&mut self.sent)
    }

    /// Sends as much as the socket takes, or as one turn allows.
    ///
    /// Errors: the connection is gone, or a file is shorter than it was when the response began.
    pub(crate) fn flush(&mut self, socket: impl AsFd) -> io::Result<Flushed> {
        for _ in 0..WRITES_A_TURN {
            let Some(front) = self.pieces.front_mut() else { return Ok(Flushed::All) };
            let sent = match front {
                Piece::File(file, offset, length) => {
                    send_file_part(socket.as_fd(), file, offset, *length)
                }
                _ => self.send_bytes(socket.as_fd()),
            };
            match sent {
                Ok(sent) => {
                    self.sent += sent as u64;
                    self.drop_sent(sent);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    return Ok(Flushed::Full);
                }
                Err(error) => return Err(error),
            }
        }
        Ok(if self.pieces.is_empty() { Flushed::All } else { Flushed::More })
    }

    fn send_bytes(&self, socket: impl AsFd) -> io::Result<usize> {
        let mut slices = [IoSlice::new(&[]); GATHER];
        let mut count = 0;
        for piece in self.pieces.iter().take(GATHER) {
            let Some(bytes) = piece.bytes() else { break };
            slices[count] = IoSlice::new(bytes);
            count += 1;
        }
        let more = count < self.pieces.len();
        if count == 1 && !more {
            return sys::send(socket, &slices[0]);
        }
        sys::send_gathered(socket, &slices[..count], more)
    }

    fn drop_sent(&mut self, mut sent: usize) {
        while let Some(front) = self.pieces.front_mut() {
            let before = sent;
            let Some(left) = front.skip(&mut sent) else { break };
            if !matches!(front, Piece::File(..)) {
                self.waiting -= before - sent;
            }
            if left > 0 {
                break;
            }
            self.pieces.pop_front();
        }
    }
}

fn send_file_part(
    socket: impl AsFd,
    file: &File,
    offset: &mut u64,
    length: u64,
) -> io::Result<usize> {
    let sent = sys::send_file(socket, file, offset, length)?;
    if sent == 0 {
        return Err(io::Error::new(
            io::ErrorKind::UnexpectedEof,
            "the file became shorter while it was sent",
        ));
    }
    Ok(sent)
}

impl Piece {
    fn bytes(&self) -> Option<&[u8]> {
        match self {
            Piece::Owned(data, from) => Some(&data[*from..]),
            Piece::Retained(data, from, to) => Some(&(**data).as_ref()[*from..*to]),
            Piece::File(..) => None,
        }
    }

    fn is_empty(&self) -> bool {
        match self {
            Piece::File(_, _, length) => *length == 0,
            _ => self.bytes().is_none_or(<[u8]>::is_empty),
        }
    }

    /// Passes over up to `sent` bytes, counting them down; gives how many are left.
    fn skip(&mut self, sent: &mut usize) -> Option<usize> {
        let length = match self {
            Piece::File(_, _, length) => *length as usize,
            _ => self.bytes()?.len(),
        };
        let step = length.min(*sent);
        *sent -= step;
        match self {
            Piece::Owned(_, from) | Piece::Retained(_, from, _) => *from += step,
            // The offset was moved as it was sent.
            Piece::File(_, _, length) => *length -= step as u64,
        }
        Some(length - step)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::net::UnixStream;

    use super::*;

    fn sockets() -> (UnixStream, UnixStream) {
        let (ours, theirs) = UnixStream::pair().expect("a socket pair");
        ours.set_nonblocking(true).expect("an option");
        theirs.set_nonblocking(true).expect("an option");
        (ours, theirs)
    }

    /// A file of these bytes.
    fn file(bytes: &[u8]) -> File {
        let file = sys::temporary_file(&std::env::temp_dir()).expect("a file");
        sys::write_all_at(&file, bytes, 0).expect("room");
        file
    }

    /// Everything that waits at `socket`.
    fn drained(mut socket: &UnixStream) -> Vec<u8> {
        let mut bytes = Vec::new();
        let error = socket.read_to_end(&mut bytes).expect_err("no end");
        assert_eq!(error.kind(), io::ErrorKind::WouldBlock);
        bytes
    }

    #[test]
    fn pieces_of_every_kind_go_out_in_order_however_often_the_socket_is_full() {
        let (ours, theirs) = sockets();
        let mut output = Output::default();
        let mut expected = Vec::new();
        // More pieces than one write gathers, and more bytes than the socket takes.
        for number in 0..60u8 {
            let bytes = vec![number; 20_000];
            expected.extend_from_slice(&bytes[5..]);
            output.push(match number % 3 {
                0 => Piece::Owned(bytes, 5),
                1 => Piece::Retained(Box::new(bytes), 5, 20_000),
                _ => Piece::File(file(&bytes), 5, 19_995),
            });
        }
        let mut got = Vec::new();
        let mut full = 0;
        while output.flush(&ours).expect("an open socket") != Flushed::All {
            full += 1;
            got.extend(drained(&theirs));
        }
        got.extend(drained(&theirs));
        assert!(got == expected && output.is_empty() && full > 1);
    }

    #[test]
    fn a_reader_that_keeps_up_does_not_keep_others_waiting() {
        let (ours, theirs) = sockets();
        let mut output = Output::default();
        let pieces = WRITES_A_TURN * GATHER + 1;
        (0..pieces).for_each(|_| output.push(Piece::Owned(b"x".to_vec(), 0)));
        assert_eq!(output.flush(&ours).expect("an open socket"), Flushed::More);
        assert_eq!(output.flush(&ours).expect("an open socket"), Flushed::All);
        assert_eq!(drained(&theirs).len(), pieces);
    }

    #[test]
    fn what_is_appended_stays_behind_what_waits() {
        let (ours, theirs) = sockets();
        let mut output = Output::default();
        output.append([b"one", b"", b" "]);
        output.push(Piece::File(file(b"two "), 0, 4));
        output.append([b"three ", b"four ", b""]);
        output.append([b"", b"five", b""]);
        assert_eq!(output.waiting(), "one three four five".len());
        assert_eq!(output.flush(&ours).expect("an open socket"), Flushed::All);
        assert_eq!(drained(&theirs), b"one two three four five");
        assert_eq!((output.waiting(), output.take_sent()), (0, 23));
    }

    #[test]
    fn empty_pieces_are_left_out() {
        let mut output = Output::default();
        output.push(Piece::Owned(b"head".to_vec(), 4));
        output.push(Piece::Retained(Box::new("body"), 2, 2));
        output.push(Piece::File(file(b"file"), 4, 0));
        assert!(output.is_empty());
    }

    #[test]
    fn a_file_that_is_too_short_is_an_error() {
        let (ours, theirs) = sockets();
        let mut output = Output::default();
        output.push(Piece::File(file(b"short"), 0, 6));
        let error = output.flush(&ours).expect_err("a byte is missing");
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
        assert_eq!(drained(&theirs), b"short");
    }
}
