//! Signals, turned into orders.

use std::io::{self, ErrorKind, Read};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2};
use signal_hook::low_level::{pipe, unregister};
use signal_hook::{SigId, flag};

use crate::control::{Given, INTERRUPTED, Order};
use crate::event_loop::ORDERS;
use crate::sys::{Interest, Selector};

/// Which signals are acted on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handled {
    /// All: nobody else does.
    Alone,
    /// Those that are meant for this very process. What a terminal sends to all of them is for the supervisor to act on.
    Supervised,
}

/// A signal and what it orders.
type Meaning = (i32, &'static str, Order);

const TERMINATE: Meaning = (SIGTERM, "SIGTERM", Order::Drain);
const INTERRUPT: Meaning = (SIGINT, "SIGINT", Order::Stop);
const QUIT: Meaning = (SIGQUIT, "SIGQUIT", Order::Stop);
const REOPEN: Meaning = (SIGUSR1, "SIGUSR1", Order::Reopen);

const ALONE: &[Meaning] = &[TERMINATE, INTERRUPT, QUIT, REOPEN];
const SUPERVISED: &[Meaning] = &[TERMINATE, QUIT, REOPEN];

/// What a supervised process lets pass.
const PASSING: [i32; 5] = [SIGINT, SIGHUP, SIGTTIN, SIGTTOU, SIGUSR2];

/// The signals' arrival, as bytes on sockets that the selector watches.
#[derive(Debug)]
pub(crate) struct Signals {
    sources: Vec<(&'static Meaning, UnixStream)>,
    actions: Vec<SigId>,
}

impl Signals {
    pub(crate) fn new(selector: &Selector, handled: Handled) -> io::Result<Self> {
        let (meanings, mut actions) = match handled {
            Handled::Alone => (ALONE, end_at_second_interrupt()?),
            Handled::Supervised => (SUPERVISED, let_pass()?),
        };
        let mut sources = Vec::new();
        for meaning in meanings {
            let (read, write) = UnixStream::pair()?;
            read.set_nonblocking(true)?;
            selector.add(read.as_fd(), ORDERS, Interest::Read)?;
            sources.push((meaning, read));
            actions.push(pipe::register(meaning.0, write)?);
        }
        Ok(Signals { sources, actions })
    }

    /// What was ordered since the last call.
    pub(crate) fn take(&self) -> Vec<Given> {
        let mut came = Vec::new();
        for ((_, name, order), stream) in &self.sources {
            while let Some(count) = read_some(stream) {
                came.extend((0..count).map(|_| Given { order: *order, by: name }));
            }
        }
        came
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for action in &self.actions {
            unregister(*action);
        }
    }
}

/// How many bytes were read, while there are any. The selector tells of them once.
fn read_some(mut stream: &UnixStream) -> Option<usize> {
    loop {
        match stream.read(&mut [0; 16]) {
            Ok(count @ 1..) => return Some(count),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            _ => return None,
        }
    }
}

/// The second interrupt ends the process in the signal handler itself: every thread may be busy in the application. The order
/// counts: the first interrupt finds the flag unset, then sets it.
fn end_at_second_interrupt() -> io::Result<Vec<SigId>> {
    let told = Arc::new(AtomicBool::new(false));
    Ok(vec![
        flag::register_conditional_shutdown(SIGINT, INTERRUPTED, told.clone())?,
        flag::register(SIGINT, told.clone())?,
        flag::register(SIGQUIT, told.clone())?,
        flag::register(SIGTERM, told)?,
    ])
}

/// A handler that does nothing, where to ignore the signal would have programs that the application starts ignore it too.
fn let_pass() -> io::Result<Vec<SigId>> {
    let nothing = Arc::new(AtomicBool::new(false));
    PASSING.into_iter().map(|number| flag::register(number, nothing.clone())).collect()
}
