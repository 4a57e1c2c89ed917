//! What the loop has found for the host: it stays here until the host takes its turn.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use crate::dialogue::{Begun, Stage, Summary};
use crate::event_loop::EventLoop;

/// So many requests and messages are read before the first of them runs: what reading takes of the processor's caches is then taken once.
const ENOUGH: usize = 16;

/// What waits for the host. Requests are named by their numbers: a connection may be at its next while the application still has the one
/// before.
#[derive(Default)]
pub(crate) struct ForHost {
    begun: VecDeque<Begun>,
    stirred: VecDeque<u64>,
    /// Dialogues that time has run out for.
    late: VecDeque<(u64, Late)>,
    /// Dialogues that ended as their clients have gone: until when, in milliseconds of the monotonic clock, their tasks may go on.
    graces: BTreeSet<(u64, u64)>,
    /// Requests that were answered in its place, as it is stuck.
    pub(crate) given_up: Vec<Arc<Summary>>,
    /// The host looks at all of this before it waits again.
    in_turn: bool,
    /// The host has to be told that there is something.
    rings: bool,
}

/// What time has run out for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Late {
    /// It runs for longer than is usual.
    Slow,
    /// It runs for longer than it may.
    Overdue,
    /// Its client has gone some time ago.
    ClientGone,
}

/// One of it.
pub(crate) enum Found {
    Begun(Begun),
    Stirred(u64),
    Late(u64, Late),
}

impl ForHost {
    pub(crate) fn begin(&mut self, begun: Begun) {
        self.begun.push_back(begun);
        self.rings |= !self.in_turn;
    }

    pub(crate) fn stir(&mut self, number: u64) {
        self.stirred.push_back(number);
        self.rings |= !self.in_turn;
    }

    pub(crate) fn late(&mut self, number: u64, late: Late) {
        self.late.push_back((number, late));
        self.rings |= !self.in_turn;
    }

    /// The task of a dialogue that has ended may go on until `due`.
    pub(crate) fn leave_until(&mut self, due: u64, number: u64) {
        self.graces.insert((due, number));
    }

    /// It has ended, before `due` or since.
    pub(crate) fn end_grace(&mut self, due: u64, number: u64) {
        self.graces.remove(&(due, number));
    }

    pub(crate) fn is_in_turn(&self) -> bool {
        self.in_turn
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.begun.is_empty() && self.stirred.is_empty() && self.late.is_empty()
    }

    /// What waits longest goes first: requests under way before new ones.
    fn next(&mut self) -> Option<Found> {
        if let Some(number) = self.stirred.pop_front() {
            return Some(Found::Stirred(number));
        }
        if let Some((number, late)) = self.late.pop_front() {
            return Some(Found::Late(number, late));
        }
        self.begun.pop_front().map(Found::Begun)
    }
}

impl EventLoop {
    /// Whether a host takes the requests.
    pub(crate) fn is_hosted(&self) -> bool {
        self.for_host.is_some()
    }

    /// Whether there is enough for the host that it is to see to that first.
    pub(crate) fn host_has_enough(&self) -> bool {
        self.for_host.as_ref().is_some_and(|host| host.begun.len() + host.stirred.len() >= ENOUGH)
    }

    /// Notes something for the host.
    pub(crate) fn for_host(&mut self, note: impl FnOnce(&mut ForHost)) {
        if let Some(host) = &mut self.for_host {
            note(host);
        }
    }

    /// Whether something waits for the host.
    pub(crate) fn host_has_work(&self) -> bool {
        self.for_host.as_ref().is_some_and(|host| !host.is_empty())
    }

    /// Whether the host has not heard of a request that takes long.
    pub(super) fn host_is_late(&self) -> bool {
        self.for_host.as_ref().is_some_and(|host| !host.late.is_empty())
    }

    /// The requests that were answered in the host's place since this was asked last.
    pub(super) fn take_given_up(&mut self) -> Vec<Arc<Summary>> {
        self.for_host.as_mut().map(|host| std::mem::take(&mut host.given_up)).unwrap_or_default()
    }

    /// What the host is to look at next.
    pub(crate) fn next_for_host(&mut self) -> Option<Found> {
        let found = self.for_host.as_mut()?.next()?;
        if let Found::Begun(begun) = &found {
            begun.summary.note(Stage::Running);
            self.has_begun(begun.token);
        }
        Some(found)
    }

    /// When the first of the tasks whose dialogues have ended has been long enough without its client.
    pub(crate) fn next_grace(&self) -> Option<u64> {
        self.for_host.as_ref()?.graces.first().map(|(due, _)| *due)
    }

    /// Tells the host of those for which that is now.
    pub(crate) fn end_graces(&mut self) {
        while self.next_grace().is_some_and(|due| due <= self.now) {
            self.for_host(|host| {
                if let Some((_, number)) = host.graces.pop_first() {
                    host.late(number, Late::ClientGone);
                }
            });
        }
    }

    /// Whether the host is within a turn.
    pub(crate) fn host_is_in_turn(&self) -> bool {
        self.for_host.as_ref().is_some_and(ForHost::is_in_turn)
    }

    /// The host begins or ends a turn.
    pub(crate) fn set_in_turn(&mut self, in_turn: bool) {
        self.for_host(|host| host.in_turn = in_turn);
    }

    /// Whether the bell is to be rung for what was found outside of the host's turns.
    pub(crate) fn rings_bell(&mut self) -> bool {
        self.for_host.as_mut().is_some_and(|host| std::mem::take(&mut host.rings))
    }
}
