//! Lost lines: told, but not again and again.

use std::time::{Duration, Instant};

/// The message log hears of losses this often at the most.
const PAUSE: Duration = Duration::from_secs(10);

/// The losses that the message log was not told of yet.
#[derive(Debug, Default)]
pub(super) struct Losses {
    untold: u64,
    reason: String,
    told_at: Option<Instant>,
}

impl Losses {
    /// Notes `lines` that were lost, and why.
    pub(super) fn note(&mut self, lines: u64, reason: impl FnOnce() -> String) {
        if lines > 0 {
            self.untold += lines;
            self.reason = reason();
        }
        self.tell_if_due();
    }

    /// Tells of losses, unless that was done a short time ago.
    pub(super) fn tell_if_due(&mut self) {
        if self.told_at.is_none_or(|at| at.elapsed() >= PAUSE) {
            self.tell();
        }
    }

    /// Tells of what is untold.
    pub(super) fn tell(&mut self) {
        if self.untold > 0 {
            log::warn!("lines of the access log were lost: {} ({})", self.untold, self.reason);
            self.untold = 0;
            self.told_at = Some(Instant::now());
        }
    }
}
