//! The side that writes: a thread of its own.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use super::log::Queue;
use super::losses::Losses;
use super::sink::{Sink, Wait};

/// Lines are written in batches this far apart, unless there are many.
const PAUSE: Duration = Duration::from_millis(50);

/// A buffer that grew beyond this is given back when a batch did not need it.
const LARGEST_KEPT: usize = 256 << 10;

const STACK: usize = 128 << 10;

const TOO_SLOW: &str = "they are written too slowly: see where access-log goes";

/// Starts the thread that writes the lines of `queue` to `sink`.
pub(super) fn start(queue: Arc<Queue>, sink: Sink) -> io::Result<()> {
    let mut writer = Writer { queue, losses: Losses::default() };
    let builder = std::thread::Builder::new().name("pronghorn-log".to_owned());
    builder.stack_size(STACK).spawn(move || writer.run(sink)).map(drop)
}

struct Writer {
    queue: Arc<Queue>,
    losses: Losses,
}

impl Writer {
    fn run(&mut self, mut sink: Sink) {
        let mut lines = Vec::new();
        loop {
            let orders = self.queue.next(&mut lines);
            self.note_dropped(orders.dropped);
            self.write(&mut sink, &lines);
            give_back(&mut lines);
            if orders.reopen {
                reopen(&mut sink);
            }
            if orders.close {
                return;
            }
            self.queue.pause(PAUSE);
        }
    }

    fn write(&mut self, sink: &mut Sink, lines: &[u8]) {
        let written = sink.write(lines, self);
        if let Err(unwritten) = written {
            let lost = lines[unwritten.from..].iter().filter(|byte| **byte == b'\n').count() as u64;
            self.queue.count_lost(lost);
            self.losses.note(lost, || match unwritten.error {
                Some(error) => error.to_string(),
                None => TOO_SLOW.to_owned(),
            });
        }
    }

    fn note_dropped(&mut self, dropped: u64) {
        self.losses.note(dropped, || TOO_SLOW.to_owned());
    }
}

impl Wait for Writer {
    fn goes_on(&mut self) -> bool {
        let dropped = self.queue.take_dropped();
        self.note_dropped(dropped);
        self.queue.has_time()
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        let dropped = self.queue.take_dropped();
        self.note_dropped(dropped);
        self.losses.tell();
        self.queue.ended();
    }
}

fn reopen(sink: &mut Sink) {
    match sink.reopen() {
        Ok(()) => log::info!("the access log was reopened"),
        Err(error) => log::error!(
            "the access log cannot be reopened, it goes on where it went: {error}. Check access-log"
        ),
    }
}

fn give_back(lines: &mut Vec<u8>) {
    if lines.len() < LARGEST_KEPT {
        lines.shrink_to(LARGEST_KEPT);
    }
    lines.clear();
}
