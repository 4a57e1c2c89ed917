//! Sizes and durations as people write them.

use std::time::Duration;

/// Bytes of a size such as `8KiB`, `1MiB`, `64k` or `8192`.
///
/// `k`, `m` and `g` are powers of 1024, with or without `iB`. `kB` and `MB` mean 1000 to some and 1024 to
/// others, so they are refused.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let (number, unit) = split_unit(text);
    let scale = match unit {
        "" | "B" => 1,
        "k" | "K" | "KiB" => 1 << 10,
        "m" | "M" | "MiB" => 1 << 20,
        "g" | "G" | "GiB" => 1 << 30,
        "kB" | "KB" | "MB" | "GB" => return Err(ambiguous(number, unit)),
        _ => return Err(SIZE.to_owned()),
    };
    number.parse::<u64>().ok().and_then(|n| n.checked_mul(scale)).ok_or_else(|| SIZE.to_owned())
}

/// A duration such as `10` or `10s` (seconds), `0.5`, `500ms`, `1m` or `1h`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = split_unit(text);
    let scale = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" | "min" => 60.0,
        "h" => 3600.0,
        _ => return Err(DURATION.to_owned()),
    };
    let seconds = number.parse::<f64>().map_err(|_| DURATION.to_owned())? * scale;
    Duration::try_from_secs_f64(seconds).map_err(|_| DURATION.to_owned())
}

/// A duration in the largest unit that gives a whole number.
pub fn duration_text(duration: Duration) -> String {
    match duration.as_millis() {
        ms if ms == 0 || !ms.is_multiple_of(1000) => format!("{ms}ms"),
        ms if ms.is_multiple_of(3_600_000) => format!("{}h", ms / 3_600_000),
        ms if ms.is_multiple_of(60_000) => format!("{}m", ms / 60_000),
        ms => format!("{}s", ms / 1000),
    }
}

/// A number of bytes in the largest unit that gives a whole number.
pub(super) fn size_text(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    UNITS.iter().find(|(scale, _)| bytes >= *scale && bytes.is_multiple_of(*scale)).map_or_else(
        || format!("{bytes} bytes"),
        |(scale, unit)| format!("{}{unit}", bytes / scale),
    )
}

/// Splits where the first letter stands; a number is digits and at most a point, never `inf` or `1e9`.
fn split_unit(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    text.split_at(end)
}

fn ambiguous(number: &str, unit: &str) -> String {
    let letter = &unit[..1].to_ascii_uppercase();
    format!("{unit} may mean 1000 or 1024: write {number}{letter}iB, or the number of bytes")
}

const SIZE: &str = "expected a size such as 8192, 64k, 8KiB or 1MiB";
const DURATION: &str = "expected a duration such as 10, 10s, 500ms, 1m or 1h";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        for (text, bytes) in [
            ("0", 0),
            ("8192", 8192),
            ("10B", 10),
            ("64k", 65_536),
            ("64K", 65_536),
            ("8KiB", 8192),
            ("1m", 1 << 20),
            ("100MiB", 100 << 20),
            ("2GiB", 2 << 30),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn sizes_that_are_none() {
        for text in
            ["", "k", "1.5k", "-1", "+1", "1 k", "1kib", "1T", "20000000000GiB", "0x10", "٣"]
        {
            assert_eq!(size(text), Err(SIZE.to_owned()), "{text}");
        }
    }

    #[test]
    fn a_size_that_is_ambiguous_says_how_to_write_it() {
        let reason = size("64kB").expect_err("kB is ambiguous");
        assert_eq!(reason, "kB may mean 1000 or 1024: write 64KiB, or the number of bytes");
    }

    #[test]
    fn durations() {
        for (text, millis) in [
            ("0", 0),
            ("10", 10_000),
            ("10s", 10_000),
            ("0.5", 500),
            (".5s", 500),
            ("500ms", 500),
            ("1m", 60_000),
            ("2min", 120_000),
            ("1h", 3_600_000),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_millis(millis)), "{text}");
        }
    }

    #[test]
    fn durations_that_are_none() {
        for text in ["", "s", "-1", "1d", "1 s", "inf", "nan", "1e3", "1.2.3"] {
            assert_eq!(duration(text), Err(DURATION.to_owned()), "{text}");
        }
        let beyond = "9".repeat(30);
        assert_eq!(duration(&beyond), Err(DURATION.to_owned()));
    }

    #[test]
    fn written_again_they_read_the_same() {
        for bytes in [0, 1, 1024, 1025, 8192, 100 << 20, 3 << 30] {
            assert_eq!(size(size_text(bytes).trim_end_matches(" bytes")), Ok(bytes));
        }
        for millis in [0, 1, 1500, 10_000, 60_000, 90_000, 7_200_000] {
            let span = Duration::from_millis(millis);
            assert_eq!(duration(&duration_text(span)), Ok(span));
        }
    }
}
