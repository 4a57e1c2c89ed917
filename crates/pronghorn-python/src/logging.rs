//! The server's own log: lines on standard error.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process;
use std::time::{SystemTime, UNIX_EPOCH};

use log::{Level, LevelFilter, Log, Metadata, Record};
use pronghorn_proto::date::civil_date;

use crate::attach;

/// Sends the server's messages of at least `level` to standard error from now on.
///
/// In a process that has a logger already, that one stays and only the level is set.
pub fn install(level: LevelFilter) {
    // It fails only when there is a logger already.
    let _ = log::set_logger(&StandardError);
    log::set_max_level(level);
}

/// Writes `[2026-11-30 12:00:00 +0000] [4711] [INFO] message`, gunicorn's form, in UTC.
struct StandardError;

impl Log for StandardError {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= log::max_level()
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let now =
                SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
            let line = line(now, process::id(), record.level(), &record.args().to_string());
            // One write a message keeps lines of several threads apart. There is nowhere to report a failure. Who should read
            // them may be slow: then only the thread that has something to tell waits.
            let _ = attach::release(|| std::io::stderr().write_all(line.as_bytes()));
        }
    }

    fn flush(&self) {}
}

fn line(unix_seconds: u64, pid: u32, level: Level, message: &str) -> String {
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
