//! The server's own log: lines on standard error or in a file, without the interpreter; or records of Python's `logging`, when the
//! application has configured that.

mod line;
mod output;
mod queue;
mod stdlib;

use std::io;
use std::path::Path;
use std::process;
use std::time::{SystemTime, UNIX_EPOCH};

use log::{LevelFilter, Log, Metadata, Record};

use crate::{fork, statsd};
use queue::{Message, QUEUE};

pub(crate) use stdlib::{Delivery, is_stuck};

/// Sends the server's messages of at least `level` to `file` from now on; `None` is standard error.
///
/// In a process that has a logger already, that one stays and only the level is set.
///
/// # Errors
/// The file cannot be opened.
pub fn install(level: LevelFilter, file: Option<&Path>) -> io::Result<()> {
    // It fails only when there is a logger already.
    let _ = log::set_logger(&Messages);
    log::set_max_level(level);
    output::choose(file)
}

/// Opens the file anew, at once.
pub(crate) fn reopen() {
    output::reopen();
    log::info!("the logs are opened anew");
}

struct Messages;

impl Log for Messages {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= log::max_level()
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        statsd::note_message(record.level(), record.target());
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let message =
            Message { time: since, level: record.level(), text: record.args().to_string() };
        // A forked child has nobody who would deliver it.
        if fork::is_child() || !QUEUE.take(&message) {
            write(&message);
        }
    }

    fn flush(&self) {
        stdlib::flush();
    }
}

/// Writes a message without the help of Python.
fn write(message: &Message) {
    let line = line::line(message.time.as_secs(), process::id(), message.level, &message.text);
    output::write(line.as_bytes());
}
