//! The server's own log: lines on standard error.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use log::{Level, LevelFilter, Log, Metadata, Record};
use pronghorn_proto::date::civil_date;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

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
            write(line.as_bytes());
        }
    }

    fn flush(&self) {}
}

/// Writes a line as far as its reader keeps up: nothing waits long for a log that nobody reads, as whoever logs may hold a lock or
/// the interpreter. What is lost is counted, and told with the next line that is not. After a loss there is no more patience.
fn write(line: &[u8]) {
    static LOST: AtomicU64 = AtomicU64::new(0);
    let lost = LOST.swap(0, Ordering::Relaxed);
    let patience = if lost == 0 { PATIENCE } else { NO_PATIENCE };
    let told = lost == 0
        || write_in_time(format!("[{lost} log messages were lost]\n").as_bytes(), &patience);
    if !told || !write_in_time(line, &patience) {
        LOST.fetch_add(if told { 1 } else { lost + 1 }, Ordering::Relaxed);
    }
}

/// Pieces that a pipe takes whole if it takes a byte, pipe(7): a wait for room is enough to never block. False if that took too long.
fn write_in_time(text: &[u8], patience: &Timespec) -> bool {
    // Held over all pieces, so that lines of several threads stay apart.
    let mut stderr = std::io::stderr().lock();
    text.chunks(PIPE_BUF).all(|piece| {
        let mut fds = [PollFd::new(&stderr, PollFlags::OUT)];
        let ready = poll(&mut fds, Some(patience)).is_ok_and(|ready| ready > 0);
        if ready {
            // A failure has nowhere to be reported.
            let _ = stderr.write_all(piece);
        }
        ready
    })
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
const PIPE_BUF: usize = 4096;
const NO_PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
const PATIENCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

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
