//! Histograms of durations: one set of buckets for all, from a tenth of a millisecond to a minute.

/// The upper bounds, in microseconds and as Prometheus gets them. One more bucket takes what is longer.
pub(super) const BOUNDS: [(u64, &str); 18] = [
    (100, "0.0001"),
    (250, "0.00025"),
    (500, "0.0005"),
    (1_000, "0.001"),
    (2_500, "0.0025"),
    (5_000, "0.005"),
    (10_000, "0.01"),
    (25_000, "0.025"),
    (50_000, "0.05"),
    (100_000, "0.1"),
    (250_000, "0.25"),
    (500_000, "0.5"),
    (1_000_000, "1"),
    (2_500_000, "2.5"),
    (5_000_000, "5"),
    (10_000_000, "10"),
    (30_000_000, "30"),
    (60_000_000, "60"),
];

/// How many numbers a histogram has: its buckets, and the sum in microseconds behind them.
pub(super) const LENGTH: usize = BOUNDS.len() + 2;
pub(super) const SUM: usize = LENGTH - 1;

/// The bucket of a duration. Most are in the first, so they are looked through in order.
#[inline]
pub(super) fn bucket(micros: u64) -> usize {
    BOUNDS.iter().position(|(bound, _)| micros <= *bound).unwrap_or(BOUNDS.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duration_at_a_bound_is_below_it() {
        assert_eq!(
            [0, 100, 101, 60_000_000, 60_000_001, u64::MAX].map(bucket),
            [0, 0, 1, 17, 18, 18]
        );
    }

    #[test]
    fn the_texts_say_what_the_numbers_do() {
        for (micros, text) in BOUNDS {
            let seconds: f64 = text.parse().expect("a number");
            assert_eq!((seconds * 1e6).round() as u64, micros);
        }
    }
}
