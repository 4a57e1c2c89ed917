//! The server's own log: lines on standard error.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process;
use std::time::{SystemTime, UNIX_EPOCH};

use log::{Level, LevelFilter, Log, Metadata, Record};

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
            // One write a message keeps lines of several threads apart. There is nowhere to report a failure.
            let _ = std::io::stderr().write_all(line.as_bytes());
        }
    }

    fn flush(&self) {}
}

fn line(unix_seconds: u64, pid: u32, level: Level, message: &str) -> String {
    let (year, month, day) = civil_date(unix_seconds / DAY);
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

/// Year, month and day, days after 1 January 1970.
///
/// Years are counted from March, so that a leap day is the last day of its year and months have a regular length.
fn civil_date(days: u64) -> (u64, u64, u64) {
    let since_year_0 = days + DAYS_FROM_MARCH_0_TO_1970;
    let (era, day_of_era) = (since_year_0 / DAYS_OF_400_YEARS, since_year_0 % DAYS_OF_400_YEARS);
    let leap_days = day_of_era / 1460 - day_of_era / 36_524 + day_of_era / (DAYS_OF_400_YEARS - 1);
    let year_of_era = (day_of_era - leap_days) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    // Five months from March, and again from August, have 153 days.
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    (400 * era + year_of_era + u64::from(month <= 2), month, day)
}

const DAY: u64 = 24 * 60 * 60;
const DAYS_OF_400_YEARS: u64 = 146_097;
const DAYS_FROM_MARCH_0_TO_1970: u64 = 719_468;

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

    #[test]
    fn dates_of_leap_years_and_centuries() {
        for (days, date) in [
            (0, (1970, 1, 1)),
            (58, (1970, 2, 28)),
            (59, (1970, 3, 1)),
            (10_956, (1999, 12, 31)),
            (11_016, (2000, 2, 29)),
            (11_017, (2000, 3, 1)),
            (20_787, (2026, 11, 30)),
            (47_540, (2100, 2, 28)),
            (47_541, (2100, 3, 1)),
        ] {
            assert_eq!(civil_date(days), date, "{days}");
        }
    }

    #[test]
    fn every_day_follows_the_day_before() {
        for days in 1..60_000 {
            let ((y0, m0, d0), (y1, m1, d1)) = (civil_date(days - 1), civil_date(days));
            let next_day = (y1, m1, d1) == (y0, m0, d0 + 1);
            let next_month =
                d1 == 1 && (y1 * 12 + m1 == y0 * 12 + m0 + 1) && (28..=31).contains(&d0);
            assert!(next_day || next_month, "{days}");
        }
    }
}
