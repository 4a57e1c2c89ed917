//! Messages on their way to Python's `logging`: whoever logs may hold locks, and never waits for the interpreter.

use std::collections::VecDeque;
use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use log::Level;

/// How many bytes of messages wait at the most; more are dropped, and counted.
const MOST_WAITING: usize = 1 << 20;

/// One message.
#[derive(Clone, Debug)]
pub(super) struct Message {
    /// When, since 1970.
    pub(super) time: Duration,
    pub(super) level: Level,
    pub(super) text: String,
}

/// The queue, closed until someone takes messages out of it.
#[derive(Debug)]
pub(super) struct Queue {
    is_open: AtomicBool,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    messages: VecDeque<Message>,
    bytes: usize,
    lost: u64,
    /// Messages were taken out and are not delivered yet.
    delivering: bool,
    ended: bool,
}

/// What is to be delivered.
pub(super) struct Batch {
    pub(super) messages: VecDeque<Message>,
    /// How many messages found no room before them.
    pub(super) lost: u64,
}

/// The one there is: the log of a process is global.
pub(super) static QUEUE: Queue = Queue {
    is_open: AtomicBool::new(false),
    state: Mutex::new(State {
        messages: VecDeque::new(),
        bytes: 0,
        lost: 0,
        delivering: false,
        ended: true,
    }),
    changed: Condvar::new(),
};

impl Queue {
    /// Takes messages from now on.
    pub(super) fn open(&self) {
        self.state().ended = false;
        self.is_open.store(true, Ordering::Release);
    }

    /// Takes no more messages; who delivers them ends when there are none left.
    pub(super) fn close(&self) {
        let state = self.state();
        self.is_open.store(false, Ordering::Release);
        drop(state);
        self.changed.notify_all();
    }

    /// Takes a message, or counts it as lost. False if the queue is closed.
    pub(super) fn take(&self, message: &Message) -> bool {
        if !self.is_open.load(Ordering::Acquire) {
            return false;
        }
        let mut state = self.state();
        if state.bytes >= MOST_WAITING {
            state.lost += 1;
            return true;
        }
        state.bytes += message.text.len() + mem::size_of::<Message>();
        state.messages.push_back(message.clone());
        drop(state);
        self.changed.notify_all();
        true
    }

    /// The messages that wait, waiting for some; none when the queue is closed and empty. Those taken before count as delivered.
    pub(super) fn next(&self) -> Option<Batch> {
        let mut state = self.state();
        state.delivering = false;
        self.changed.notify_all();
        while state.messages.is_empty() && state.lost == 0 {
            if !self.is_open.load(Ordering::Acquire) {
                state.ended = true;
                self.changed.notify_all();
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state.delivering = true;
        Some(state.take_out())
    }

    /// Waits, up to `limit`, until all is delivered.
    pub(super) fn wait_until_delivered(&self, limit: Duration) {
        let waits =
            |state: &mut State| state.delivering || !state.messages.is_empty() || state.lost > 0;
        self.wait_while(limit, waits);
    }

    /// Waits, up to `limit`, until nobody delivers any more; false if somebody does still.
    pub(super) fn wait_until_ended(&self, limit: Duration) -> bool {
        self.wait_while(limit, |state| !state.ended);
        self.state().ended
    }

    /// What waits still, for another way out.
    pub(super) fn take_rest(&self) -> Batch {
        self.state().take_out()
    }

    fn wait_while(&self, limit: Duration, waits: impl FnMut(&mut State) -> bool) {
        drop(self.changed.wait_timeout_while(self.state(), limit, waits));
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take_out(&mut self) -> Batch {
        self.bytes = 0;
        Batch { messages: mem::take(&mut self.messages), lost: mem::take(&mut self.lost) }
    }
}
