//! Clients that stay connected and answer pings.

use std::cell::Cell;
use std::io::{self, stdin};
use std::time::{Duration, Instant};

use crate::crowd::Crowd;
use crate::frame::{self, Outgoing};

pub(crate) fn hold(mut crowd: Crowd) -> io::Result<()> {
    crowd.watch(stdin())?;
    while !crowd.turn(PATIENCE, |_, _, _| Ok(()), |_| Ok(()))? {}
    crowd.unwatch(stdin())?;
    println!("kept {}", still_served(&mut crowd)?);
    Ok(())
}

/// How many clients get a message back.
fn still_served(crowd: &mut Crowd) -> io::Result<usize> {
    let pattern = frame::pattern(MESSAGE);
    let message = Outgoing::new(frame::BINARY, &pattern);
    let send = |index: usize| crowd.client(index)?.send(message.as_bytes());
    let sent = (0..crowd.len()).filter(|index| send(*index).is_ok()).count();
    let (served, lost) = (Cell::new(0), Cell::new(0));
    let deadline = Instant::now() + PATIENCE;
    while served.get() + lost.get() < sent && Instant::now() < deadline {
        let on_message = |_, _: &_, echoed: &[u8]| {
            served.set(served.get() + usize::from(echoed == pattern));
            Ok(())
        };
        let on_loss = |_| {
            lost.set(lost.get() + 1);
            Ok(())
        };
        crowd.turn(deadline.saturating_duration_since(Instant::now()), on_message, on_loss)?;
    }
    Ok(served.get())
}

const MESSAGE: usize = 16;
const PATIENCE: Duration = Duration::from_secs(20);
