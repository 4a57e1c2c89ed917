//! All clients and the selector that watches them.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::{Timespec, epoll};
use rustix::io::Errno;

use crate::client::Client;

pub(crate) struct Crowd {
    epoll: OwnedFd,
    clients: Vec<Option<Client>>,
    /// Clients that have received something the selector does not know of: it came with the handshake.
    early: Vec<usize>,
    events: Vec<epoll::Event>,
    scratch: Box<[u8]>,
}

impl Crowd {
    /// Connects up to `wanted` clients; stops at the first that cannot be, which is an error only if it is the very first.
    pub(crate) fn connect(port: u16, wanted: usize) -> io::Result<Self> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        let mut clients = Vec::with_capacity(wanted);
        for index in 0..wanted {
            match Client::connect(port, index) {
                Ok(client) => {
                    let key = epoll::EventData::new_u64(index as u64);
                    epoll::add(&epoll, &client, key, epoll::EventFlags::IN)?;
                    clients.push(Some(client));
                }
                Err(error) if index == 0 => return Err(error),
                Err(error) => {
                    eprintln!("ws_load: client {index}: {error}");
                    break;
                }
            }
        }
        let (events, scratch) = (Vec::with_capacity(EVENTS), vec![0; SCRATCH].into_boxed_slice());
        let has_more = |client: &Option<Client>| client.as_ref().is_some_and(Client::has_more);
        let early = (0..clients.len()).filter(|index| has_more(&clients[*index])).collect();
        Ok(Self { epoll, clients, early, events, scratch })
    }

    /// How many clients there are, open and lost.
    pub(crate) fn len(&self) -> usize {
        self.clients.len()
    }

    pub(crate) fn client(&self, index: usize) -> io::Result<&Client> {
        let client = self.clients.get(index).and_then(Option::as_ref);
        client.ok_or_else(|| io::Error::other(format!("client {index} is not connected")))
    }

    /// Also wakes a wait when `fd` is readable; nothing is read from it.
    pub(crate) fn watch(&self, fd: impl AsFd) -> io::Result<()> {
        let key = epoll::EventData::new_u64(OUTSIDE);
        Ok(epoll::add(&self.epoll, fd, key, epoll::EventFlags::IN)?)
    }

    /// Ends what `watch` began.
    pub(crate) fn unwatch(&self, fd: impl AsFd) -> io::Result<()> {
        Ok(epoll::delete(&self.epoll, fd)?)
    }

    /// Waits once for messages and calls `on_message` with each, its client and that one's number.
    ///
    /// Gives whether the descriptor of `watch` is readable. A client that fails is lost; `on_loss` says whether the
    /// error is everybody's.
    pub(crate) fn turn(
        &mut self,
        patience: Duration,
        mut on_message: impl FnMut(usize, &Client, &[u8]) -> io::Result<()>,
        mut on_loss: impl FnMut(io::Error) -> io::Result<()>,
    ) -> io::Result<bool> {
        let early = std::mem::take(&mut self.early);
        let outside = self.wait(if early.is_empty() { patience } else { Duration::ZERO })?;
        let told = self.events.iter().map(|event| event.data.u64()).filter(|key| *key != OUTSIDE);
        for index in early.into_iter().chain(told.map(|key| key as usize)) {
            let Some(client) = &mut self.clients[index] else { continue };
            let received = client
                .receive(&mut self.scratch, |client, message| on_message(index, client, message));
            if let Err(error) = received {
                self.clients[index] = None; // dropping the socket closes it
                on_loss(error)?;
            }
        }
        Ok(outside)
    }

    /// Collects events; gives whether the descriptor of `watch` is readable.
    fn wait(&mut self, patience: Duration) -> io::Result<bool> {
        self.events.clear();
        let patience = Timespec::try_from(patience).map_err(io::Error::other)?;
        let spare = rustix::buffer::spare_capacity(&mut self.events);
        match epoll::wait(&self.epoll, spare, Some(&patience)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(self.events.iter().any(|event| event.data.u64() == OUTSIDE))
    }
}

const EVENTS: usize = 256;
const SCRATCH: usize = 256 * 1024;
const OUTSIDE: u64 = u64::MAX;
