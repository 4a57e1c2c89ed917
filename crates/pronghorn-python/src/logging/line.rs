//! The form of a message: `[2026-11-30 12:00:00 +0000] [4711] [INFO] message`, which is gunicorn's, in UTC.

use std::fmt::Write as _;

use log::Level;
use pronghorn_proto::date::civil_date;

/// The line of a message.
pub(super) fn line(unix_seconds: u64, pid: u32, level: Level, message: &str) -> String {
    let (year, month, day) = civil_date(unix_seconds / DAY);
    let month = month + 1;
    let second = unix_seconds % DAY;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    let mut line = String::with_capacity(64 + message.len());
    let _ = writeln!(
        line,
        "[{year}-{month:02}-{day:02} {hour:02}:{minute:02}:{second:02} +0000] [{pid}] [{}] {message}",
        name(level)
    );
    line
}

/// gunicorn's names of the levels.
fn name(level: Level) -> &'static str {
    match level {
        Level::Error => "ERROR",
        Level::Warn => "WARNING",
        Level::Info => "INFO",
        Level::Debug => "DEBUG",
        Level::Trace => "TRACE",
    }
}

const DAY: u64 = 24 * 60 * 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line() {
        assert_eq!(
            line(1_796_040_000, 4711, Level::Info, "Listening at: http://127.0.0.1:8000"),
            "[2026-11-30 12:00:00 +0000] [4711] [INFO] Listening at: http://127.0.0.1:8000\n"
        );
        assert!(
            line(0, 1, Level::Warn, "x").starts_with("[1970-01-01 00:00:00 +0000] [1] [WARNING] x")
        );
    }
}
