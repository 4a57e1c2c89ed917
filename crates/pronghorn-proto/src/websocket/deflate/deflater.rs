//! Deflating messages (RFC 7692 section 7.2.1).

use flate2::{Compress, Compression, FlushCompress};

use super::{Agreement, TAIL};

/// Deflates one message after the other.
#[derive(Debug)]
pub(in crate::websocket) struct Deflater {
    stream: Compress,
    window_bits: u8,
}

impl Deflater {
    fn new(level: u32, window_bits: u8) -> Deflater {
        let level = Compression::new(level);
        Deflater { stream: Compress::new_with_window_bits(level, false, window_bits), window_bits }
    }

    /// Appends `message` to `out`, deflated, without the tail.
    pub(in crate::websocket) fn deflate(&mut self, message: &[u8], out: &mut Vec<u8>) {
        let start = self.stream.total_in();
        loop {
            let used = (self.stream.total_in() - start) as usize;
            let rest = &message[used..];
            out.reserve(most_deflated(rest.len()));
            let outcome = self.stream.compress_vec(rest, out, FlushCompress::Sync);
            debug_assert!(outcome.is_ok(), "{outcome:?}");
            // With room left all is written.
            if out.len() < out.capacity() {
                break;
            }
        }
        debug_assert!(out.ends_with(TAIL));
        out.truncate(out.len() - TAIL.len());
    }
}

/// What `length` bytes take at most, more or less: stored blocks, and the tail.
fn most_deflated(length: usize) -> usize {
    length + length / 1024 + 64
}

/// Deflaters that nobody uses now, for all connections of a thread.
#[derive(Debug)]
pub struct Deflaters {
    level: u32,
    #[expect(clippy::vec_box, reason = "boxes move between connections, what is in them does not")]
    idle: Vec<Box<Deflater>>,
}

impl Deflaters {
    /// Deflaters of a level from 1, which is fast, to 9, which makes the smallest messages.
    pub fn new(level: u32) -> Deflaters {
        Deflaters { level: level.clamp(1, 9), idle: Vec::new() }
    }

    /// One at the start of a stream. It stays with the connection if contexts are taken over.
    pub(in crate::websocket) fn lend(&mut self, agreement: &Agreement) -> Box<Deflater> {
        let window_bits = agreement.server_window_bits();
        let idle = self.idle.iter().position(|deflater| deflater.window_bits == window_bits);
        match idle {
            Some(place) => self.idle.swap_remove(place),
            None => Box::new(Deflater::new(self.level, window_bits)),
        }
    }

    pub(in crate::websocket) fn take_back(&mut self, mut deflater: Box<Deflater>) {
        deflater.stream.reset();
        self.idle.push(deflater);
    }
}

impl Default for Deflaters {
    fn default() -> Self {
        Deflaters::new(DEFAULT_LEVEL)
    }
}

const DEFAULT_LEVEL: u32 = 6;
