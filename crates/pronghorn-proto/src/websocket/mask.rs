//! The mask of a client's frames (RFC 6455 section 5.3).

/// The masking key of a frame, turned to where in its payload the next byte is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mask([u8; 4]);

impl Mask {
    pub(super) fn new(key: [u8; 4]) -> Mask {
        Mask(key)
    }

    /// Unmasks the next bytes of the payload in place. Masks them too: it is the same.
    #[inline]
    pub(super) fn apply(&mut self, bytes: &mut [u8]) {
        let word = u32::from_ne_bytes(self.0);
        let key = u64::from(word) | u64::from(word) << 32;
        // Of words in an array the compiler makes vector instructions.
        let (words, rest) = bytes.as_chunks_mut::<8>();
        for bytes in words {
            *bytes = (u64::from_ne_bytes(*bytes) ^ key).to_ne_bytes();
        }
        for (byte, key) in rest.iter_mut().zip(key.to_ne_bytes()) {
            *byte ^= key;
        }
        self.0.rotate_left(rest.len() % 4);
    }
}

/// Masks or unmasks `payload` in place with `key`, from the start of the key.
pub fn mask(payload: &mut [u8], key: [u8; 4]) {
    Mask::new(key).apply(payload);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_masked_by_their_place_however_they_are_cut() {
        let key = [0x37, 0xFA, 0x21, 0x3D];
        let plain: Vec<u8> = (0..100).collect();
        let masked: Vec<u8> = plain.iter().zip(key.iter().cycle()).map(|(a, b)| a ^ b).collect();
        for first in 0..plain.len() {
            for second in first..plain.len() {
                let mut mask = Mask::new(key);
                let mut bytes = plain.clone();
                mask.apply(&mut bytes[..first]);
                mask.apply(&mut bytes[first..second]);
                mask.apply(&mut bytes[second..]);
                assert_eq!(bytes, masked, "{first} {second}");
            }
        }
    }

    #[test]
    fn the_example_of_the_rfc() {
        let mut hello = *b"Hello";
        mask(&mut hello, [0x37, 0xFA, 0x21, 0x3D]);
        assert_eq!(hello, [0x7F, 0x9F, 0x4D, 0x51, 0x58]);
    }
}
