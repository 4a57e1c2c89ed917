//! The access log: a line for each answered request, written without holding up the threads that serve.

mod atom;
mod clock;
mod escape;
mod format;
mod json;
mod log;
mod losses;
mod number;
mod sink;
mod variable;
mod writer;

use std::sync::OnceLock;

use pronghorn_proto::encode::ResponseFields;
use pronghorn_proto::head::Version;

use crate::address::Local;
use crate::client::Client;
use crate::request::Request;
use crate::sys;

pub use format::{Format, FormatError};
pub use log::AccessLog;
pub use sink::LogTarget;

/// What a line says.
pub(crate) struct Entry<'a> {
    /// For whom it was made.
    pub(crate) client: Client,
    /// The request, as far as it was read.
    pub(crate) request: &'a Request,
    /// The listener it came in by.
    pub(crate) listener: u16,
    /// What the application put into the response; none if the response is the server's own.
    pub(crate) fields: Option<&'a ResponseFields>,
    pub(crate) status: u16,
    /// Bytes of the response's body.
    pub(crate) bytes: u64,
}

/// What the lines of a process have in common.
#[derive(Debug)]
struct Process {
    pid: u32,
    /// Its listeners, once it has them.
    locals: OnceLock<Vec<Local>>,
}

impl Process {
    fn local(&self, entry: &Entry<'_>) -> Option<&Local> {
        self.locals.get()?.get(usize::from(entry.listener))
    }
}

impl<'a> Entry<'a> {
    /// How long it waited for a thread and how long it ran, in microseconds; 0 for what did not happen.
    fn times(&self) -> Times {
        let timing = &self.request.timing;
        let now = if timing.ended == 0 { sys::monotonic_micros() } else { timing.ended };
        let since = |begin: u64, end: u64| if begin == 0 { 0 } else { end.saturating_sub(begin) };
        let run = since(timing.started, now);
        let waited_until = if timing.started == 0 { now } else { timing.started };
        Times { waited: since(timing.queued, waited_until), run }
    }

    /// How long it ran, in microseconds.
    pub(crate) fn run_micros(&self) -> u64 {
        self.times().run
    }

    /// The first line as it came; none when nothing of it could be read.
    fn request_line(&self) -> Option<&'a [u8]> {
        let head = &self.request.head;
        let rest = &self.request.buffer[head.method_span.start as usize..];
        if !head.target.raw.is_empty() {
            let length = head.target.raw.end - head.method_span.start;
            return rest.get(..length as usize + VERSION);
        }
        let line = rest.split(|byte| matches!(byte, b'\r' | b'\n')).next();
        line.filter(|_| !head.method_span.is_empty())
    }

    /// The method as it came.
    fn method(&self) -> Option<&'a [u8]> {
        let span = self.request.head.method_span;
        (!span.is_empty()).then(|| span.of(&self.request.buffer))
    }

    /// The path as it came; the whole target where it has none.
    fn path(&self) -> Option<&'a [u8]> {
        let target = &self.request.head.target;
        let span = if target.path.is_empty() { target.raw } else { target.path };
        (!span.is_empty()).then(|| span.of(&self.request.buffer))
    }

    /// What follows the first `?` of the target.
    fn query(&self) -> Option<&'a [u8]> {
        self.request.head.target.query.map(|span| span.of(&self.request.buffer))
    }

    /// The version the request was read as.
    fn protocol(&self) -> Option<&'static [u8]> {
        let head = &self.request.head;
        (!head.target.raw.is_empty()).then_some(match head.version {
            Version::Http10 => b"HTTP/1.0",
            Version::Http11 => b"HTTP/1.1",
        })
    }
}

/// See [`Entry::times`].
struct Times {
    waited: u64,
    run: u64,
}

/// The length of ` HTTP/1.1`.
const VERSION: usize = 9;
