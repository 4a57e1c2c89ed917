//! Messages about what happens again and again: told at once, then together with those that follow.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::sys;

/// What has happened and was not told yet.
pub(crate) struct Untold {
    count: AtomicU64,
    /// Not before this time, in milliseconds.
    tell_at: AtomicU64,
    /// Milliseconds between two messages.
    pause: u64,
}

impl Untold {
    /// Nothing has happened. `pause`: milliseconds between two messages.
    pub(crate) const fn new(pause: u64) -> Self {
        Untold { count: AtomicU64::new(0), tell_at: AtomicU64::new(0), pause }
    }

    /// It has happened once more. Gives how many are to be told of, if it is time.
    pub(crate) fn add_one(&self) -> Option<u64> {
        self.add_one_at(sys::monotonic_millis())
    }

    fn add_one_at(&self, now: u64) -> Option<u64> {
        self.count.fetch_add(1, Ordering::Relaxed);
        let due = self.tell_at.load(Ordering::Relaxed);
        let next = now + self.pause;
        let swap =
            || self.tell_at.compare_exchange(due, next, Ordering::Relaxed, Ordering::Relaxed);
        let is_mine = now >= due && swap().is_ok();
        is_mine.then(|| self.count.swap(0, Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_are_told_of_together() {
        let untold = Untold::new(10_000);
        assert_eq!(untold.add_one_at(5), Some(1));
        assert_eq!(untold.add_one_at(6), None);
        assert_eq!(untold.add_one_at(4 + 10_000), None);
        assert_eq!(untold.add_one_at(5 + 10_000), Some(3));
    }
}
