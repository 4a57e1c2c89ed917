//! Random bytes of the system.

use rustix::io::Errno;
use rustix::rand::{GetRandomFlags, getrandom};

/// A random number.
pub fn random_number() -> u64 {
    let mut bytes = [0; 8];
    fill_random(&mut bytes);
    u64::from_ne_bytes(bytes)
}

/// Fills `bytes` with random ones. Waits only in the first moments after the machine's start.
pub(crate) fn fill_random(bytes: &mut [u8]) {
    let mut filled = 0;
    while filled < bytes.len() {
        match getrandom(&mut bytes[filled..], GetRandomFlags::empty()) {
            Ok(more) => filled += more,
            Err(Errno::INTR) => {}
            Err(error) => panic!("the system has no random bytes: {error}"),
        }
    }
}
