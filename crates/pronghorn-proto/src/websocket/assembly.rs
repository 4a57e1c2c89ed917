//! A message while its fragments arrive.

use super::deflate::Inflater;
use super::event::Kind;
use super::fault::Fault;
use super::utf8::whole_characters;

/// What there is of a message.
#[derive(Debug)]
pub(super) struct Assembly {
    pub(super) kind: Kind,
    pub(super) compressed: bool,
    /// Frames without a byte so far.
    empty_frames: u16,
    data: Vec<u8>,
    /// How much of the data is known to be whole characters.
    checked: usize,
}

impl Assembly {
    pub(super) fn new(kind: Kind, compressed: bool) -> Assembly {
        Assembly { kind, compressed, empty_frames: 0, data: Vec::new(), checked: 0 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// Admits a frame of `length` bytes. The size of a plain message is held to `limit` before its
    /// bytes arrive, that of a compressed one is not known yet.
    pub(super) fn admit(&mut self, length: u64, limit: usize) -> Result<(), Fault> {
        if !self.compressed && length > limit.saturating_sub(self.data.len()) as u64 {
            return Err(Fault::MessageTooLarge);
        }
        self.empty_frames += u16::from(length == 0);
        match self.empty_frames > MOST_EMPTY_FRAMES {
            true => Err(Fault::EmptyFrames),
            false => Ok(()),
        }
    }

    /// Takes the next bytes of a plain message. So many more of the same frame are to come.
    ///
    /// Room is made for what is announced, but not for much more than there is already: a client
    /// that announces much has sent nothing yet.
    pub(super) fn append(&mut self, part: &[u8], to_come: u64) -> Result<(), Fault> {
        let room = self.data.len().max(ROOM_AT_ONCE) as u64;
        self.data.reserve(part.len() + to_come.min(room) as usize);
        self.data.extend_from_slice(part);
        self.check_text(self.data.len())
    }

    /// Takes the next bytes of a compressed message.
    ///
    /// What is wrong first in the message itself counts, whatever came in one piece: bytes that are
    /// not UTF-8, then the byte beyond `limit`, then what cannot be inflated.
    pub(super) fn inflate(
        &mut self,
        mut part: &[u8],
        inflater: &mut Inflater,
        limit: usize,
    ) -> Result<(), Fault> {
        loop {
            if self.data.len() == self.data.capacity() {
                let room = self.data.len().max(4 * part.len()).clamp(LEAST_ROOM, ROOM_AT_ONCE);
                self.data.reserve_exact(room.min(limit.saturating_sub(self.data.len()) + 1));
            }
            let outcome = inflater.inflate(part, &mut self.data);
            self.check_text(self.data.len().min(limit).max(self.checked))?;
            if self.data.len() > limit {
                return Err(Fault::MessageTooLarge);
            }
            part = &part[outcome?..];
            if part.is_empty() && self.data.len() < self.data.capacity() {
                return Ok(());
            }
        }
    }

    /// Takes the end of a compressed message.
    pub(super) fn inflate_end(
        &mut self,
        inflater: &mut Inflater,
        limit: usize,
    ) -> Result<(), Fault> {
        match inflater.tail() {
            Some(tail) => self.inflate(tail, inflater, limit),
            None => Ok(()),
        }
    }

    /// The message, when all of it is there.
    pub(super) fn finish(self) -> Result<Vec<u8>, Fault> {
        match self.kind == Kind::Text && self.checked < self.data.len() {
            true => Err(Fault::Utf8),
            false => Ok(self.data),
        }
    }

    fn check_text(&mut self, end: usize) -> Result<(), Fault> {
        if self.kind == Kind::Text {
            self.checked += whole_characters(&self.data[self.checked..end])?;
        }
        Ok(())
    }
}

/// What a client may announce without having sent it.
const ROOM_AT_ONCE: usize = 1024 * 1024;

/// Inflating needs some room at every step.
const LEAST_ROOM: usize = 64;

/// Frames without a byte, of which a message could otherwise have any number and never end.
const MOST_EMPTY_FRAMES: u16 = 1024;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::websocket::deflate::{Agreement, Inflaters, Options};

    #[test]
    fn a_message_that_drips_in_moves_a_few_times_only() {
        let agreement = Agreement::accept([].into_iter(), &Options::default());
        let mut inflater = Inflaters::default().lend(&agreement.expect("an offer without params"));
        let mut message = Assembly::new(Kind::Binary, true);
        let mut capacities = Vec::new();
        for _ in 0..50_000 {
            let stored = message.inflate(b"\x00\x01\x00\xFE\xFFx", &mut inflater, 1 << 20);
            assert_eq!(stored, Ok(()));
            capacities.push(message.data.capacity());
        }
        capacities.dedup();
        assert_eq!(message.data.len(), 50_000);
        assert!(capacities.len() < 20, "{capacities:?}");
    }
}
