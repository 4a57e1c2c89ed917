//! The thread that sends.

use std::io;
use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::socket::Socket;
use super::{Answered, Names, Queue};

/// Datagrams are this far apart.
const PAUSE: Duration = Duration::from_millis(200);

/// The most bytes of a datagram: what a network passes on in one piece.
const LARGEST: usize = 1400;

const STACK: usize = 128 << 10;

/// Starts the thread that tells of what is in `queue`.
pub(super) fn start(queue: Arc<Queue>, socket: Socket, names: Names) -> io::Result<()> {
    let writer = Writer { queue, socket, names, datagram: Vec::new(), failure_told: false };
    let builder = std::thread::Builder::new().name("pronghorn-statsd".to_owned());
    builder.stack_size(STACK).spawn(move || writer.run()).map(drop)
}

struct Writer {
    queue: Arc<Queue>,
    socket: Socket,
    names: Names,
    /// Lines on their way.
    datagram: Vec<u8>,
    failure_told: bool,
}

impl Writer {
    fn run(mut self) {
        let mut requests = Vec::new();
        loop {
            let last = self.queue.gather(PAUSE);
            let untimed = self.queue.take(&mut requests);
            self.tell_requests(&requests, untimed);
            self.tell_messages();
            self.send();
            requests.clear();
            if last {
                return;
            }
        }
    }

    fn tell_requests(&mut self, requests: &[Answered], untimed: Vec<(u16, u64)>) {
        let mut statuses = untimed;
        for request in requests {
            self.line("gunicorn.request.duration", &millis(request.micros), "ms");
            match statuses.iter_mut().find(|(status, _)| *status == request.status) {
                Some((_, count)) => *count += 1,
                None => statuses.push((request.status, 1)),
            }
        }
        let all = statuses.iter().map(|(_, count)| count).sum();
        self.count("gunicorn.requests", all);
        for (status, count) in statuses {
            self.count(&format!("gunicorn.request.status.{status}"), count);
        }
    }

    fn tell_messages(&mut self) {
        let queue = self.queue.clone();
        let take = |counter: &AtomicU64| counter.swap(0, Ordering::Relaxed);
        self.count("gunicorn.log.error", take(&queue.messages.errors));
        self.count("gunicorn.log.warning", take(&queue.messages.warnings));
        self.count("gunicorn.log.exception", take(&queue.messages.exceptions));
    }

    fn count(&mut self, name: &str, count: u64) {
        if count > 0 {
            self.line(name, &count.to_string(), "c");
        }
    }

    fn line(&mut self, name: &str, value: &str, kind: &str) {
        let before = self.datagram.len();
        self.names.append(&mut self.datagram, name, value, kind);
        // The end of the last line is not sent.
        if self.datagram.len() - 1 > LARGEST && before > 0 {
            let line = self.datagram.split_off(before);
            self.send();
            self.datagram = line;
        }
    }

    /// Sends what is there. What does not arrive is nobody's concern, but once it is told.
    fn send(&mut self) {
        let datagram = mem::take(&mut self.datagram);
        let Some((_, lines)) = datagram.split_last() else { return };
        if let Err(error) = self.socket.send(lines)
            && !mem::replace(&mut self.failure_told, true)
        {
            log::warn!("StatsD metrics do not arrive: {error}. Check statsd-host");
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue.ended();
    }
}

/// Milliseconds with their decimals.
fn millis(micros: u64) -> String {
    format!("{}.{:03}", micros / 1000, micros % 1000)
}
