//! Ways to cut an input into the pieces a connection could deliver.

/// A small generator of repeatable numbers (xorshift64*), for tests only.
pub struct Random(u64);

impl Random {
    /// A generator whose numbers follow from `seed`.
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// A number below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % bound
    }
}

/// Every byte on its own.
pub fn bytes(input: &[u8]) -> Vec<&[u8]> {
    input.chunks(1).collect()
}

/// Cut at random places, in pieces of up to `longest` bytes.
pub fn random<'a>(input: &'a [u8], longest: usize, random: &mut Random) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    let mut rest = input;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at((1 + random.below(longest)).min(rest.len()));
        pieces.push(piece);
        rest = after;
    }
    pieces
}

/// A seed that follows from `input`, so that a fuzzer's finding is cut the same way again.
pub fn seed(input: &[u8]) -> u64 {
    input.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    })
}
