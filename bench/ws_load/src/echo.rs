//! Each client sends a message, and the next one when it is back.

use std::io;
use std::time::{Duration, Instant};

use crate::client::Client;
use crate::crowd::Crowd;
use crate::frame::{self, Outgoing, STAMP};
use crate::report::Latencies;

/// What one client has under way.
struct Exchange {
    number: u32,
    sent: Instant,
}

pub(crate) fn load(mut crowd: Crowd, size: usize, time: Duration) -> io::Result<()> {
    let pattern = frame::pattern(size);
    let mut message = Outgoing::new(frame::BINARY, &pattern);
    let mut latencies = Latencies::new();
    let mut exchanges = Vec::with_capacity(crowd.len());
    for index in 0..crowd.len() {
        exchanges.push(Exchange { number: 0, sent: Instant::now() });
        crowd.client(index)?.send(message.stamped(stamp(index, 0)))?;
    }
    let deadline = latencies.began() + time;
    while Instant::now() < deadline {
        let on_message = |index: usize, client: &Client, echoed: &[u8]| {
            let exchange = &mut exchanges[index];
            check(echoed, &pattern, stamp(index, exchange.number))?;
            let now = Instant::now();
            latencies.count(exchange.sent, now);
            *exchange = Exchange { number: exchange.number.wrapping_add(1), sent: now };
            client.send(message.stamped(stamp(index, exchange.number)))
        };
        crowd.turn(deadline.saturating_duration_since(Instant::now()), on_message, Err)?;
    }
    latencies.print();
    Ok(())
}

/// Which message of which client it is.
pub(crate) fn stamp(client: usize, number: u32) -> [u8; STAMP] {
    ((client as u64) << 32 | u64::from(number)).to_be_bytes()
}

/// Whether `received` is the message that is due, byte for byte.
pub(crate) fn check(received: &[u8], pattern: &[u8], stamp: [u8; STAMP]) -> io::Result<()> {
    if received.len() == pattern.len()
        && received[..STAMP] == stamp
        && received[STAMP..] == pattern[STAMP..]
    {
        return Ok(());
    }
    let message = format!("a message of {} bytes is not the one that was due", received.len());
    Err(io::Error::other(message))
}

#[cfg(test)]
mod tests {
    use super::{check, stamp};
    use crate::frame::pattern;

    #[test]
    fn another_message_is_noticed() {
        let (due, pattern) = (stamp(3, 7), pattern(100));
        let mut received = pattern.clone();
        received[..8].copy_from_slice(&due);
        assert!(check(&received, &pattern, due).is_ok());
        assert!(check(&received, &pattern, stamp(3, 8)).is_err());
        assert!(check(&received, &pattern, stamp(4, 7)).is_err());
        assert!(check(&received[..99], &pattern, due).is_err());
        received[99] ^= 1;
        assert!(check(&received, &pattern, due).is_err());
    }
}
