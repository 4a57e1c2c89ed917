//! The identifier of a request: a trusted proxy's, or a new one.

use pronghorn_proto::field::Known;
use pronghorn_proto::span::Span;
use pronghorn_proto::trace::is_request_id;

use crate::address::Peer;
use crate::client::Proxies;
use crate::request::Request;
use crate::sys;

/// What a request is called in logs and responses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum RequestId {
    /// It has no name: nobody asked for one.
    #[default]
    None,
    /// It came with one, here in its head.
    Kept(Span),
    /// It was given one.
    Made([u8; 32]),
}

/// Gives identifiers to requests. Made anew in each process: two of them never have the same random bytes.
pub(crate) struct Identifiers {
    random: [u8; BATCH],
    used: usize,
}

/// Random bytes are asked for this many at a time.
const BATCH: usize = 32 * BYTES;

/// 128 bits an identifier.
const BYTES: usize = 16;

impl Identifiers {
    pub(crate) fn new() -> Self {
        Identifiers { random: [0; BATCH], used: BATCH }
    }

    /// Names a request, unless it has a name.
    pub(crate) fn name(&mut self, request: &mut Request, peer: Peer, proxies: &Proxies) {
        if let RequestId::None = request.id {
            let kept = kept(request).filter(|_| proxies.trusts(peer));
            request.id = kept.map_or_else(|| RequestId::Made(self.make()), RequestId::Kept);
        }
    }

    /// 32 hexadecimal digits.
    fn make(&mut self) -> [u8; 32] {
        if self.used == BATCH {
            sys::fill_random(&mut self.random);
            self.used = 0;
        }
        let random = &self.random[self.used..self.used + BYTES];
        self.used += BYTES;
        let mut id = [0; 32];
        for (digits, byte) in id.chunks_exact_mut(2).zip(random) {
            digits[0] = DIGITS[usize::from(byte >> 4)];
            digits[1] = DIGITS[usize::from(byte & 15)];
        }
        id
    }
}

/// The one X-Request-ID of a complete head, if it may be kept.
fn kept(request: &Request) -> Option<Span> {
    let fields = request.head.fields.iter().filter(|_| request.head_length > 0);
    let mut named = fields.filter(|field| field.known == Some(Known::XRequestId));
    match (named.next(), named.next()) {
        (Some(field), None) if is_request_id(field.value.of(&request.buffer)) => Some(field.value),
        _ => None,
    }
}

const DIGITS: &[u8; 16] = b"0123456789abcdef";

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn identifiers_are_hexadecimal_and_differ() {
        let mut identifiers = Identifiers::new();
        let all: HashSet<_> = (0..1000).map(|_| identifiers.make()).collect();
        assert_eq!(all.len(), 1000);
        assert!(all.iter().flatten().all(|digit| DIGITS.contains(digit)));
    }

    #[test]
    fn two_processes_give_different_ones() {
        assert_ne!(Identifiers::new().make(), Identifiers::new().make());
    }
}
