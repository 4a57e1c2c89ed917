//! The listening sockets, which outlive settings, workers and supervisors.

use std::io;
use std::mem;

use pronghorn_engine::Listener;

use crate::app::StartError;
use crate::listening::Manner;
use crate::settings::Address;

/// Open listeners, by the addresses they are for. What somebody else opened, as systemd does, is kept there when this server ends.
#[derive(Debug, Default)]
pub(super) struct Listeners {
    open: Vec<(Address, Listener)>,
}

impl Listeners {
    /// Those that another supervisor has opened.
    pub(super) fn inherited(open: Vec<(Address, Listener)>) -> Self {
        Listeners { open }
    }

    /// Those of before that are wanted still, and new ones. Gives those that are not wanted any more.
    ///
    /// # Errors
    /// One that cannot be opened; then those of before are left.
    pub(super) fn change(
        &mut self,
        addresses: &[Address],
        manner: &Manner,
    ) -> Result<Vec<Listener>, StartError> {
        let mut before = mem::take(&mut self.open);
        let mut new = Vec::new();
        for address in addresses {
            if let Some(place) = before.iter().position(|(known, _)| known == address) {
                self.open.push(before.remove(place));
                continue;
            }
            match manner.open(address) {
                Ok(listener) => new.push((address.clone(), listener)),
                Err(error) => {
                    self.open.append(&mut before);
                    return Err(error);
                }
            }
        }
        self.open.append(&mut new);
        Ok(before.into_iter().map(|(_, listener)| listener).collect())
    }

    /// The same sockets, for a worker.
    ///
    /// # Errors
    /// The system's, when it has no descriptors left.
    pub(super) fn share(&self) -> io::Result<Vec<Listener>> {
        let share = |(address, listener): &(Address, Listener)| {
            let shared = listener.share()?;
            Ok(if address.descriptor().is_some() { shared.lasting() } else { shared })
        };
        self.open.iter().map(share).collect()
    }

    /// Each with the address it is for.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&Address, &Listener)> {
        self.open.iter().map(|(address, listener)| (address, listener))
    }

    /// What people are told.
    pub(super) fn names(&self) -> Vec<String> {
        self.open.iter().map(|(_, listener)| listener.to_string()).collect()
    }

    /// Another process had them too, and has left them to this one.
    pub(super) fn own(&mut self) {
        let ours = self.open.iter_mut().filter(|(address, _)| address.descriptor().is_none());
        ours.for_each(|(_, listener)| listener.own());
    }

    /// Leaves them to another process that has them too.
    pub(super) fn hand_over(&mut self) {
        self.open.drain(..).for_each(|(_, listener)| listener.hand_over());
    }

    /// Ends them, whatever other processes hold of them.
    pub(super) fn end(&self) {
        let ours = self.open.iter().filter(|(address, _)| address.descriptor().is_none());
        ours.for_each(|(_, listener)| listener.end());
    }

    /// Whether there is none, as after they were left to others.
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Closes them.
    pub(super) fn close(&mut self) {
        self.open.clear();
    }
}
