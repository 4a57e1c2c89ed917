//! The thread that waits for the handler's interpreter in the place of the watchdog, which must never wait for it.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::under_way::MOST;
use super::{RequestTask, Slot, Stack};
use crate::handler::Handler;

/// How long the interpreter may keep the envoy waiting before the watchdog goes on without.
const PATIENCE: Duration = Duration::from_secs(1);

/// How much stack it gets: it runs code of the interpreter.
const STACK: usize = 1 << 20;

/// The watchdog's end.
pub(crate) struct Envoy {
    errands: Sender<Errand>,
    found: Receiver<(u64, Found)>,
    thread: JoinHandle<()>,
    /// Numbers of the latest errand sent and the latest done.
    sent: u64,
    done: u64,
}

/// What it finds, attached.
pub(crate) struct Found {
    pub(crate) stacks: Vec<Stack>,
    /// If all stacks are wanted: the tasks of requests.
    pub(super) tasks: Vec<RequestTask>,
}

/// What is to be done attached.
pub(crate) struct Errand {
    /// The one thread whose stack is wanted; none for all.
    pub(crate) only: Option<u64>,
    /// The request that is to be interrupted after that: its slot and which it is.
    pub(crate) interrupt: Option<(Arc<Slot>, u64)>,
}

impl Envoy {
    pub(crate) fn start(handler: Arc<dyn Handler>) -> io::Result<Self> {
        let (errands, orders) = channel();
        let (reply, found) = channel();
        let builder = std::thread::Builder::new().name("pronghorn-envoy".to_owned());
        let run = move || run_errands(&*handler, &orders, &reply);
        let thread = builder.stack_size(STACK).spawn(run)?;
        Ok(Envoy { errands, found, thread, sent: 0, done: 0 })
    }

    /// Sends it on an errand; gives what it finds, or nothing if that takes long. The errand is done all the same when it can be.
    pub(crate) fn send(&mut self, errand: Errand) -> Option<Found> {
        // Who waits for the last errand already waits in vain for this one.
        let patience = if self.is_back() { PATIENCE } else { Duration::ZERO };
        self.sent += 1;
        self.errands.send(errand).ok()?;
        let until = Instant::now() + patience;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let (number, found) = self.found.recv_timeout(left).ok()?;
            self.done = number;
            if number == self.sent {
                return Some(found);
            }
        }
    }

    /// Ends the thread, once it has done what it was sent for.
    pub(crate) fn dismiss(self) {
        drop(self.errands);
        // A panic of it has been reported by itself.
        let _ = self.thread.join();
    }

    fn is_back(&mut self) -> bool {
        self.done = self.found.try_iter().last().map_or(self.done, |(number, _)| number);
        self.done == self.sent
    }
}

fn run_errands(handler: &dyn Handler, errands: &Receiver<Errand>, reply: &Sender<(u64, Found)>) {
    handler.thread_start();
    for (number, errand) in (1..).zip(errands) {
        handler.attach();
        let stacks = handler.stacks(errand.only);
        let tasks = if errand.only.is_none() { handler.tasks(MOST) } else { Vec::new() };
        // Before the interruption, so that the log tells of the request while it runs.
        let listened = reply.send((number, Found { stacks, tasks })).is_ok();
        if let Some((slot, request)) = errand.interrupt {
            slot.interrupt(request, |work| handler.interrupt(work));
        }
        handler.detach();
        if !listened {
            break;
        }
    }
    handler.thread_stop();
}
