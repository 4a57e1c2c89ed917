//! Everything a client may send on one connection: the outcome does not depend on the cuts.

use crate::conversation;
use crate::cuts::{self, Random};

/// Panics if the outcome of `data` depends on how it is cut.
pub fn check(data: &[u8]) {
    for eof in [false, true] {
        let whole = conversation::play(&[data], eof);
        assert_eq!(whole, conversation::play(&cuts::bytes(data), eof));
        let pieces = cuts::random(data, 50, &mut Random::new(cuts::seed(data)));
        assert_eq!(whole, conversation::play(&pieces, eof));
    }
}
