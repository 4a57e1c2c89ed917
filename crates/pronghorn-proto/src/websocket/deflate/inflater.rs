//! Inflating messages (RFC 7692 section 7.2.2).

use flate2::{Decompress, FlushDecompress, Status};

use super::{Agreement, TAIL};
use crate::websocket::fault::Fault;

/// Inflates one message after the other.
#[derive(Debug)]
pub(in crate::websocket) struct Inflater {
    stream: Decompress,
    position: Position,
    /// How often the message went on behind a block that says it is the last.
    restarts: u8,
}

/// Where in the deflated stream an inflater is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    /// No byte of the message has been read.
    Start,
    Within,
    /// Behind a block that says it is the last.
    Ended,
}

impl Inflater {
    fn new(window_bits: u8) -> Inflater {
        let stream = Decompress::new_with_window_bits(false, window_bits);
        Inflater { stream, position: Position::Start, restarts: 0 }
    }

    /// Inflates from `input` into the room there is in `message`; gives how much of `input` was
    /// used. There may be more to come if the room was used up.
    pub(in crate::websocket) fn inflate(
        &mut self,
        input: &[u8],
        message: &mut Vec<u8>,
    ) -> Result<usize, Fault> {
        if self.position == Position::Ended && !input.is_empty() {
            self.begin_anew(message)?;
        }
        let before = self.stream.total_in();
        let outcome = self.stream.decompress_vec(input, message, FlushDecompress::None);
        self.position = match outcome {
            Ok(Status::StreamEnd) => Position::Ended,
            Ok(_) if !input.is_empty() => Position::Within,
            Ok(_) => self.position,
            Err(_) => return Err(Fault::Compression),
        };
        Ok((self.stream.total_in() - before) as usize)
    }

    /// What is still to be inflated when all of a message has been: the tail that was not sent.
    ///
    /// There is none after a block that says it is the last, and for a message without a byte, which
    /// should have had one (section 7.2.3.6) but can only be the empty message.
    pub(in crate::websocket) fn tail(&mut self) -> Option<&'static [u8]> {
        let within = self.position == Position::Within;
        self.restarts = 0;
        if within {
            self.position = Position::Start;
        }
        within.then_some(TAIL)
    }

    /// Goes on behind a block that says it is the last: what the message has so far may be
    /// referred to all the same. That is much work for two bytes, so it may not happen often.
    fn begin_anew(&mut self, message: &[u8]) -> Result<(), Fault> {
        self.restarts += 1;
        if self.restarts > MOST_RESTARTS {
            return Err(Fault::Compression);
        }
        self.stream.reset(false);
        let window = &message[message.len().saturating_sub(LARGEST_WINDOW)..];
        match window.is_empty() {
            true => Ok(()),
            false => self.stream.set_dictionary(window).map(drop).map_err(|_| Fault::Compression),
        }
    }

    fn reset(&mut self) {
        self.stream.reset(false);
        (self.position, self.restarts) = (Position::Start, 0);
    }
}

/// Inflaters that nobody uses now, for all connections of a thread.
#[derive(Debug, Default)]
pub struct Inflaters {
    #[expect(clippy::vec_box, reason = "boxes move between connections, what is in them does not")]
    idle: Vec<Box<Inflater>>,
}

impl Inflaters {
    /// One at the start of a stream. It stays with the connection if contexts are taken over.
    pub(in crate::websocket) fn lend(&mut self, agreement: &Agreement) -> Box<Inflater> {
        if agreement.client_takeover {
            return Box::new(Inflater::new(agreement.client_window_bits()));
        }
        self.idle.pop().unwrap_or_else(|| Box::new(Inflater::new(LARGEST_WINDOW_BITS)))
    }

    pub(in crate::websocket) fn take_back(&mut self, inflater: Option<Box<Inflater>>) {
        if let Some(mut inflater) = inflater.filter(|_| self.idle.len() < MOST_IDLE) {
            inflater.reset();
            self.idle.push(inflater);
        }
    }
}

const LARGEST_WINDOW_BITS: u8 = 15;
const LARGEST_WINDOW: usize = 1 << LARGEST_WINDOW_BITS;

const MOST_RESTARTS: u8 = 16;

/// Messages that arrive in pieces need one each meanwhile.
const MOST_IDLE: usize = 8;
