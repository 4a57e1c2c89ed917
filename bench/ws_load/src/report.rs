//! What a load gave.

use std::time::{Duration, Instant};

/// Messages that came back, and how long each took.
pub(crate) struct Latencies {
    began: Instant,
    micros: Vec<u32>,
}

impl Latencies {
    /// Begins to count now.
    pub(crate) fn new() -> Self {
        Self { began: Instant::now(), micros: Vec::new() }
    }

    pub(crate) fn began(&self) -> Instant {
        self.began
    }

    /// Counts a message that was sent at `sent` and is back.
    pub(crate) fn count(&mut self, sent: Instant, now: Instant) {
        self.micros.push(now.duration_since(sent).as_micros().min(u128::from(u32::MAX)) as u32);
    }

    /// Prints the counts; the time ends now.
    pub(crate) fn print(mut self) {
        let seconds = self.began.elapsed();
        self.micros.sort_unstable();
        println!("messages {}", self.micros.len());
        println!("rate {:.1}", rate(self.micros.len(), seconds));
        for (name, share) in [("p50_ms", 0.5), ("p99_ms", 0.99)] {
            println!("{name} {:.3}", f64::from(percentile(&self.micros, share)) / 1000.0);
        }
    }
}

fn rate(messages: usize, time: Duration) -> f64 {
    messages as f64 / time.as_secs_f64()
}

/// The smallest of the sorted values that at least `share` of them do not exceed.
fn percentile(sorted: &[u32], share: f64) -> u32 {
    let rank = (sorted.len() as f64 * share).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::percentile;

    #[test]
    fn percentiles_are_values_that_were_measured() {
        let hundred: Vec<u32> = (1..=100).collect();
        assert_eq!((percentile(&hundred, 0.5), percentile(&hundred, 0.99)), (50, 99));
        assert_eq!(
            (percentile(&[7], 0.5), percentile(&[7], 0.99), percentile(&[], 0.5)),
            (7, 7, 0)
        );
    }
}
