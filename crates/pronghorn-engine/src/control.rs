//! Who tells the server what to do: signals, or the supervisor that started this process.

use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;

use crate::event_loop::ORDERS;
use crate::signals::{Handled, Signals};
use crate::sys::{Interest, Selector};

/// Who tells a server what to do, beside its [`ServerHandle`](crate::ServerHandle).
#[derive(Debug)]
pub enum Control {
    /// Nobody else.
    Nobody,
    /// The process's signals: TERM drains, INT and QUIT end quickly, USR1 reopens the logs.
    Signals,
    /// The socket of a supervisor, on which each byte is an [`Order`]; its end is an order to drain. Signals are acted on too,
    /// but for INT, which a terminal sends to the supervisor as well.
    Supervisor(OwnedFd),
}

/// The exit code of a process that a second interrupt ends: 128 and the number of SIGINT, as a shell has it.
pub const INTERRUPTED: i32 = 130;

/// The exit code of a process that a second SIGQUIT ends.
pub const QUIT: i32 = 131;

/// What a server can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Order {
    /// Stop accepting, answer what there is, end.
    Drain = b'd',
    /// The same, but what takes longer than a second is cut.
    Stop = b's',
    /// Write to the logs by their names from now on: they were renamed.
    Reopen = b'r',
    /// Fail the health check from now on, and go on serving.
    FailHealth = b'f',
    /// The listeners end for all with the next drain, whatever a process holds that the application forked: nobody goes on with them.
    EndListeners = b'l',
}

impl Order {
    const ALL: [Order; 5] =
        [Order::Drain, Order::Stop, Order::Reopen, Order::FailHealth, Order::EndListeners];

    /// What is written to a worker.
    pub fn byte(self) -> u8 {
        self as u8
    }

    fn of(byte: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.byte() == byte)
    }
}

/// Where orders come from, watched by the selector.
#[derive(Debug, Default)]
pub(crate) struct Orders {
    signals: Option<Signals>,
    supervisor: Option<UnixStream>,
}

/// An order, and who gave it, for the log.
pub(crate) struct Given {
    pub(crate) order: Order,
    pub(crate) by: &'static str,
}

impl Orders {
    pub(crate) fn new(control: Control, selector: &Selector) -> io::Result<Self> {
        match control {
            Control::Nobody => Ok(Orders::default()),
            Control::Signals => Ok(Orders {
                signals: Some(Signals::new(selector, Handled::Alone)?),
                supervisor: None,
            }),
            Control::Supervisor(socket) => {
                let socket = UnixStream::from(socket);
                socket.set_nonblocking(true)?;
                selector.add(&socket, ORDERS, Interest::Read)?;
                let signals = Some(Signals::new(selector, Handled::Supervised)?);
                Ok(Orders { signals, supervisor: Some(socket) })
            }
        }
    }

    /// Whether the process is the server's: it may be ended when a drain takes too long.
    pub(crate) fn own_the_process(&self) -> bool {
        self.signals.is_some()
    }

    /// The orders that came since the last call.
    pub(crate) fn take(&self) -> Vec<Given> {
        let mut given = self.signals.as_ref().map_or_else(Vec::new, Signals::take);
        if let Some(supervisor) = &self.supervisor {
            from_supervisor(supervisor, &mut given);
        }
        given
    }
}

fn from_supervisor(mut socket: &UnixStream, given: &mut Vec<Given>) {
    let mut bytes = [0; 16];
    loop {
        match io::Read::read(&mut socket, &mut bytes) {
            Ok(0) => {
                return given.push(Given { order: Order::Drain, by: "the supervisor has ended" });
            }
            Ok(count) => given.extend(
                bytes[..count]
                    .iter()
                    .filter_map(|byte| Order::of(*byte))
                    .map(|order| Given { order, by: "told by the supervisor" }),
            ),
            // It has ended with something unread of ours: told once, before what it said last and its end.
            Err(error) if error.kind() == ErrorKind::ConnectionReset => {}
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}
