//! The socket between a supervisor and one worker, and what is said on it. Each message is one packet: none comes in part.

use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use pronghorn_engine::{Order, Reason};
use rustix::io::{Errno, retry_on_intr};
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socketpair,
};

/// The supervisor's end.
#[derive(Debug)]
pub(super) struct Channel {
    socket: OwnedFd,
    is_closed: Cell<bool>,
}

/// The worker's end.
#[derive(Debug)]
pub(super) struct WorkerEnd(OwnedFd);

/// What a worker says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Message {
    /// It serves.
    Ready,
    /// It cannot: the text says why, to a person.
    Failed(String),
    /// It wants to be replaced.
    Asks(Reason),
}

/// Both ends of a new channel.
///
/// # Errors
/// The system's, when it has no descriptors left.
pub(super) fn pair() -> io::Result<(Channel, WorkerEnd)> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    let (ours, theirs) = socketpair(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None)?;
    Ok((Channel { socket: ours, is_closed: Cell::new(false) }, WorkerEnd(theirs)))
}

impl Channel {
    /// Gives an order. A worker that has ended does not hear it, and needs not.
    pub(super) fn tell(&self, order: Order) {
        let _ = retry_on_intr(|| send(&self.socket, &[order.byte()], SendFlags::NOSIGNAL));
    }

    /// The next message, if there is one.
    pub(super) fn hear(&self) -> Option<Message> {
        // Most of the time there is none: it is measured before there is room for it.
        let measure = RecvFlags::PEEK | RecvFlags::TRUNC;
        let (_, length) = match retry_on_intr(|| recv(&self.socket, &mut [0u8; 1][..], measure)) {
            // The worker has ended with orders unread: told once, before what it said last and its end.
            Err(Errno::CONNRESET) => return self.hear(),
            result => result.ok()?,
        };
        if length == 0 {
            self.is_closed.set(true);
            return None;
        }
        let mut packet = vec![0; length];
        retry_on_intr(|| recv(&self.socket, &mut packet[..], RecvFlags::empty())).ok()?;
        Message::read(&packet)
    }

    /// Whether the worker has closed its end, which it may do some time before its process ends: nothing is to be waited for here.
    pub(super) fn is_closed(&self) -> bool {
        self.is_closed.get()
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl WorkerEnd {
    /// Says something. A supervisor that has ended does not hear it, and the worker learns of that otherwise.
    pub(super) fn say(&self, message: &Message) {
        let packet = message.packet();
        let _ = retry_on_intr(|| send(&self.0, &packet, SendFlags::NOSIGNAL));
    }

    /// The same end once more, to say something by.
    ///
    /// # Errors
    /// The system's, when it has no descriptors left.
    pub(super) fn try_clone(&self) -> io::Result<Self> {
        self.0.try_clone().map(WorkerEnd)
    }
}

impl AsFd for WorkerEnd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl From<WorkerEnd> for OwnedFd {
    fn from(end: WorkerEnd) -> Self {
        end.0
    }
}

impl Message {
    fn packet(&self) -> Vec<u8> {
        match self {
            Message::Ready => vec![READY],
            Message::Failed(text) => {
                let text = text.as_bytes();
                [&[FAILED], &text[..text.len().min(LONGEST - 1)]].concat()
            }
            Message::Asks(reason) => {
                let place = REASONS.iter().position(|known| known == reason).unwrap_or_default();
                vec![ASKS, place as u8]
            }
        }
    }

    fn read(packet: &[u8]) -> Option<Self> {
        match packet {
            [READY] => Some(Message::Ready),
            [FAILED, text @ ..] => {
                Some(Message::Failed(String::from_utf8_lossy(text).into_owned()))
            }
            [ASKS, place] => REASONS.get(usize::from(*place)).copied().map(Message::Asks),
            _ => None,
        }
    }
}

const READY: u8 = b'+';
const FAILED: u8 = b'!';
const ASKS: u8 = b'?';

/// By their number in a packet.
const REASONS: [Reason; 5] =
    [Reason::Requests, Reason::Lifetime, Reason::Memory, Reason::Stuck, Reason::Changed];

/// The longest packet: a traceback that is longer is cut.
const LONGEST: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_is_heard_in_order() {
        let (ours, theirs) = pair().expect("a pair");
        assert_eq!(ours.hear(), None);
        let mut messages = vec![Message::Ready, Message::Failed("line\nline".to_owned())];
        messages.extend(REASONS.map(Message::Asks));
        for message in &messages {
            theirs.say(message);
        }
        for message in messages {
            assert_eq!(ours.hear(), Some(message));
        }
        let again = theirs.try_clone().expect("the same end");
        again.say(&Message::Failed("x".repeat(LONGEST)));
        assert_eq!(ours.hear(), Some(Message::Failed("x".repeat(LONGEST - 1))));
        assert!(!ours.is_closed());
        drop((theirs, again));
        assert_eq!(ours.hear(), None);
        assert!(ours.is_closed());
        ours.tell(Order::Drain);
    }

    #[test]
    fn the_last_words_of_a_worker_that_leaves_orders_unread_are_heard() {
        let (ours, theirs) = pair().expect("a pair");
        ours.tell(Order::Drain);
        theirs.say(&Message::Ready);
        drop(theirs);
        assert_eq!(ours.hear(), Some(Message::Ready));
        assert_eq!(ours.hear(), None);
        assert!(ours.is_closed());
    }
}
