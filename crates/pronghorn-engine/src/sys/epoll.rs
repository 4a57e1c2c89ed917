//! Readiness: an edge-triggered epoll selector and the eventfd that wakes it.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::epoll::{self, CreateFlags, Event, EventData, EventFlags};
use rustix::event::{EventfdFlags, Timespec, eventfd};
use rustix::io::retry_on_intr;

/// How many events one wait takes at the most.
const BATCH: usize = 256;

/// What a descriptor is watched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Interest {
    /// New data or the peer's end, once per arrival.
    Read,
    /// As `Read`, and room in the send buffer.
    ReadWrite,
    /// A listening socket: reported as long as a connection waits.
    Listen,
    /// A listening socket that other processes watch too: each connection wakes one of those that wait, the one that began to
    /// watch first.
    ListenShared,
}

impl Interest {
    fn flags(self) -> EventFlags {
        match self {
            Interest::Read => EventFlags::IN | EventFlags::RDHUP | EventFlags::ET,
            Interest::ReadWrite => {
                EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET
            }
            Interest::Listen => EventFlags::IN,
            Interest::ListenShared => EventFlags::IN | EventFlags::EXCLUSIVE,
        }
    }
}

/// One report of the selector.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ready {
    /// The token given when the descriptor was added.
    pub(crate) token: u64,
    /// Data, the peer's end or an error can be read.
    pub(crate) readable: bool,
    /// The send buffer has room.
    pub(crate) writable: bool,
    /// The peer has ended its side, or the connection is gone: no other event tells of it.
    pub(crate) ended: bool,
    /// The connection is gone: nothing can be sent any more.
    pub(crate) gone: bool,
}

impl From<Event> for Ready {
    fn from(event: Event) -> Self {
        let flags = event.flags;
        let gone = flags.intersects(EventFlags::HUP | EventFlags::ERR);
        Ready {
            token: event.data.u64(),
            readable: flags.intersects(EventFlags::IN | EventFlags::RDHUP) || gone,
            writable: flags.contains(EventFlags::OUT) || gone,
            ended: flags.contains(EventFlags::RDHUP) || gone,
            gone,
        }
    }
}

/// The kernel's list of descriptors that wait.
#[derive(Debug)]
pub(crate) struct Selector(OwnedFd);

impl Selector {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Selector(epoll::create(CreateFlags::CLOEXEC)?))
    }

    pub(crate) fn add(&self, fd: impl AsFd, token: u64, interest: Interest) -> io::Result<()> {
        Ok(epoll::add(&self.0, fd, EventData::new_u64(token), interest.flags())?)
    }

    pub(crate) fn modify(&self, fd: impl AsFd, token: u64, interest: Interest) -> io::Result<()> {
        Ok(epoll::modify(&self.0, fd, EventData::new_u64(token), interest.flags())?)
    }

    pub(crate) fn remove(&self, fd: impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.0, fd)?)
    }

    /// Waits for events and appends them to `ready`. `millis`: `None` waits without end, 0 only looks.
    /// A signal that interrupts the wait counts as no event.
    pub(crate) fn wait(&self, ready: &mut Vec<Ready>, millis: Option<u64>) -> io::Result<()> {
        let timeout = millis.map(|millis| Timespec {
            tv_sec: (millis / 1000) as i64,
            tv_nsec: ((millis % 1000) * 1_000_000) as _,
        });
        let mut events = [MaybeUninit::<Event>::uninit(); BATCH];
        match epoll::wait(&self.0, &mut events, timeout.as_ref()) {
            Ok((filled, _)) => ready.extend(filled.iter().map(|event| Ready::from(*event))),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }
}

impl AsFd for Selector {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A descriptor that is readable once it was rung, until it is cleared: from any thread.
#[derive(Debug)]
pub(crate) struct Bell(OwnedFd);

impl Bell {
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Bell(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    pub(crate) fn ring(&self) {
        // The one way this can fail is a full counter: then it has been rung.
        let _ = retry_on_intr(|| rustix::io::write(&self.0, &1u64.to_ne_bytes()));
    }

    pub(crate) fn clear(&self) {
        // Empty means that it was not rung, which is what is wanted.
        let _ = retry_on_intr(|| rustix::io::read(&self.0, &mut [0u8; 8]));
    }
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// Ends a wait of the selector from another thread.
#[derive(Debug)]
pub(crate) struct Waker(Bell);

impl Waker {
    /// Makes the waker and registers it under `token`.
    pub(crate) fn new(selector: &Selector, token: u64) -> io::Result<Self> {
        let bell = Bell::new()?;
        selector.add(&bell, token, Interest::Read)?;
        Ok(Waker(bell))
    }

    pub(crate) fn wake(&self) {
        self.0.ring();
    }

    /// Makes the next wake-up an event again.
    pub(crate) fn clear(&self) {
        self.0.clear();
    }
}
