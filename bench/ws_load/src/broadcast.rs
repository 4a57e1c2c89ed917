//! One client sends, and the server passes each message on to all others.

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

use crate::crowd::Crowd;
use crate::echo::{check, stamp};
use crate::frame::{self, Outgoing};
use crate::report::Latencies;

/// The messages that not every receiver has yet, the oldest first.
struct Window {
    first: u32,
    pending: VecDeque<Pending>,
    receivers: usize,
}

struct Pending {
    sent: Instant,
    missing: usize,
}

impl Window {
    /// Notes a message sent now and gives its number.
    fn send(&mut self) -> u32 {
        self.pending.push_back(Pending { sent: Instant::now(), missing: self.receivers });
        self.first + self.pending.len() as u32 - 1
    }

    /// Notes that one receiver more has message `number`; gives when it was sent.
    fn deliver(&mut self, number: u32) -> io::Result<Instant> {
        let index = number.checked_sub(self.first).map_or(usize::MAX, |index| index as usize);
        let Some(pending) = self.pending.get_mut(index) else {
            return Err(io::Error::other(format!("message {number} came though it was not sent")));
        };
        pending.missing -= 1;
        let sent = pending.sent;
        while self.pending.front().is_some_and(|pending| pending.missing == 0) {
            self.pending.pop_front();
            self.first += 1;
        }
        Ok(sent)
    }
}

pub(crate) fn load(mut crowd: Crowd, size: usize, time: Duration) -> io::Result<()> {
    await_joined(&mut crowd)?;
    let pattern = frame::pattern(size);
    let mut message = Outgoing::new(frame::BINARY, &pattern);
    let mut received = vec![0; crowd.len()];
    let mut window = Window { first: 0, pending: VecDeque::new(), receivers: crowd.len() - 1 };
    let mut latencies = Latencies::new();
    let deadline = latencies.began() + time;
    let given_up = deadline + GRACE;
    loop {
        let now = Instant::now();
        while now < deadline && window.pending.len() < UNDER_WAY {
            crowd.client(SENDER)?.send(message.stamped(stamp(SENDER, window.send())))?;
        }
        if window.pending.is_empty() {
            latencies.print();
            return Ok(());
        }
        if now > given_up {
            return Err(io::Error::other("messages did not reach every receiver"));
        }
        let on_message = |index: usize, _: &_, message: &[u8]| {
            if index == SENDER {
                return Err(io::Error::other("a message came back to its sender"));
            }
            let number: u32 = received[index];
            check(message, &pattern, stamp(SENDER, number))?;
            received[index] += 1;
            latencies.count(window.deliver(number)?, Instant::now());
            Ok(())
        };
        crowd.turn(given_up.saturating_duration_since(now), on_message, Err)?;
    }
}

/// Waits until the application has told every client that it is among the receivers.
fn await_joined(crowd: &mut Crowd) -> io::Result<()> {
    let mut missing = crowd.len();
    let deadline = Instant::now() + GRACE;
    while missing > 0 {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::Error::other(format!("{missing} clients were not told they joined")));
        }
        let on_message = |_, _: &_, message: &[u8]| {
            missing -= 1;
            if message == b"joined" { Ok(()) } else { Err(io::Error::other("no word of joining")) }
        };
        crowd.turn(left, on_message, Err)?;
    }
    Ok(())
}

const SENDER: usize = 0;
/// How many messages may be on their way: the server always has the next one.
const UNDER_WAY: usize = 4;
const GRACE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use super::Window;

    #[test]
    fn a_message_is_under_way_until_the_last_receiver_has_it() {
        let mut window = Window { first: 0, pending: VecDeque::new(), receivers: 2 };
        assert_eq!((window.send(), window.send()), (0, 1));
        for number in [0, 1] {
            window.deliver(number).expect("it was sent");
        }
        assert_eq!(window.pending.len(), 2);
        window.deliver(0).expect("it was sent");
        assert_eq!(window.pending.len(), 1);
        assert_eq!(window.send(), 2);
        assert!(window.deliver(0).is_err() && window.deliver(3).is_err());
    }
}
