//! The listening sockets, which outlive settings, workers and supervisors.

use std::io;
use std::mem;

use pronghorn_engine::Listener;

use crate::app::StartError;
use crate::listening::Manner;
use crate::settings::Address;

/// Open listeners, by the addresses they are for.
#[derive(Debug, Default)]
pub(super) struct Listeners {
    open: Vec<(String, Listener)>,
}

impl Listeners {
    /// Those that were opened by somebody else, for the addresses that are named so.
    pub(super) fn inherited(open: Vec<(String, Listener)>) -> Self {
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
            let name = address.to_string();
            if let Some(place) = before.iter().position(|(known, _)| *known == name) {
                self.open.push(before.remove(place));
                continue;
            }
            match manner.open(address) {
                Ok(listener) => new.push((name, listener)),
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
        let share = |(name, listener): &(String, Listener)| {
            let shared = listener.share()?;
            Ok(if is_opened_elsewhere(name) { shared.lasting() } else { shared })
        };
        self.open.iter().map(share).collect()
    }

    /// Each with the address it is for.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &Listener)> {
        self.open.iter().map(|(name, listener)| (name.as_str(), listener))
    }

    /// What people are told.
    pub(super) fn names(&self) -> Vec<String> {
        self.open.iter().map(|(_, listener)| listener.to_string()).collect()
    }

    /// Another process had them too, and has left them to this one.
    pub(super) fn own(&mut self) {
        let ours = self.open.iter_mut().filter(|(name, _)| !is_opened_elsewhere(name));
        ours.for_each(|(_, listener)| listener.own());
    }

    /// Leaves them to another process that has them too.
    pub(super) fn hand_over(&mut self) {
        self.open.drain(..).for_each(|(_, listener)| listener.hand_over());
    }

    /// Ends them, whatever other processes hold of them.
    pub(super) fn end(&self) {
        let ours = self.open.iter().filter(|(name, _)| !is_opened_elsewhere(name));
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

/// Whether somebody else opened it, as systemd does, and keeps it when this server ends.
fn is_opened_elsewhere(name: &str) -> bool {
    name.starts_with("fd://")
}
