//! Which workers there are and what is to be done about them, without a process, a clock or a descriptor.
//!
//! What happened goes in by methods; [`Fleet::advance`] gives the actions that follow. Time is in milliseconds of any
//! clock that never goes back.

mod slot;

use pronghorn_engine::Reason;

use self::slot::{Serving, Slot, Starting};

/// Names a worker; never used again.
pub(super) type Id = u32;

/// The first worker.
pub(super) const FIRST: Id = 1;

/// Why a worker is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The server starts, or is told to have more workers.
    Start,
    /// The one before has ended by itself.
    Crash,
    /// Settings and code are read anew.
    Reload,
    /// The one before is to be replaced.
    Asked(Reason),
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// Start a worker.
    Start(Id, Cause),
    /// Tell one that serves to finish what it has.
    Drain(Id),
    /// Tell one that serves to end quickly.
    Stop(Id),
    /// End one that does not serve yet.
    Abandon(Id),
    /// Kill one that does not end.
    Kill(Id),
}

/// How everything ends; the later one is the quicker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Ending {
    /// What is in flight is finished.
    Graceful,
    /// What takes longer than a moment is cut.
    Quick,
    /// No worker could be started.
    Failed,
}

/// What the end of a worker means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// It was told to.
    Told,
    /// It was told to, but did not in time and was killed.
    Cut,
    /// It was told to before it served.
    Abandoned,
    /// It was serving.
    Crash,
    /// It had not begun to serve.
    Start(Cause),
    /// It is no worker.
    Unknown,
}

/// How long things may take, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Patience {
    /// Getting ready.
    pub(super) start: u64,
    /// Draining.
    pub(super) graceful: u64,
    /// Ending quickly.
    pub(super) quick: u64,
    /// One that cannot import the application waits for its author to repair it.
    pub(super) waits_for_repair: bool,
}

/// All workers: those in slots serve or are about to, the others are leaving.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fleet {
    slots: Vec<Slot>,
    leaving: Vec<Leaving>,
    patience: Patience,
    ending: Option<Ending>,
    next_id: Id,
    /// When the next slot of a reload has its turn.
    next_turn: Option<Turn>,
    was_ready: bool,
    actions: Vec<Action>,
}

/// A turn of a reload: when the worker that was replaced before has ended, or at this time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Turn {
    after: Id,
    at: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Leaving {
    id: Id,
    /// It did serve: what it has in flight counts.
    served: bool,
    until: u64,
    killed: bool,
}

impl Fleet {
    /// A fleet that is to have `wanted` workers, none of which is started yet.
    pub(super) fn new(wanted: usize, patience: Patience) -> Self {
        Fleet {
            slots: vec![Slot::default(); wanted],
            leaving: Vec::new(),
            patience,
            ending: None,
            next_id: FIRST,
            next_turn: None,
            was_ready: false,
            actions: Vec::new(),
        }
    }

    /// A worker serves, until `retires_at` at the most. The one before it is told to drain.
    pub(super) fn ready(&mut self, id: Id, now: u64, retires_at: Option<u64>) {
        let limit = self.drain_limit(now);
        let left = |leaving: &&mut Leaving| leaving.id == id && !leaving.served;
        if let Some(leaving) = self.leaving.iter_mut().find(left) {
            // It was told to end as it became ready: what it has taken in by then it finishes.
            leaving.served = true;
            leaving.until = limit;
            return;
        }
        let Some(slot) = self.slots.iter_mut().find(|slot| slot.starts(id)) else { return };
        let Some(starting) = slot.starting.take() else { return };
        let wanted = starting.asks.then_some(Cause::Asked(Reason::Changed));
        let old = slot.serving.replace(Serving { id, since: now, retires_at, wanted });
        self.was_ready = true;
        let Some(old) = old else { return };
        if starting.cause == Cause::Reload {
            self.next_turn = Some(Turn { after: old.id, at: now + PACE });
        }
        self.drain(old, now);
    }

    /// A worker that starts has told why it cannot. It ends by itself, or waits for a repair.
    pub(super) fn failed(&mut self, id: Id) {
        let patient = self.patience.waits_for_repair;
        let starting = self.slots.iter_mut().filter_map(|slot| slot.starting.as_mut());
        for starting in starting.filter(|starting| patient && starting.id == id) {
            starting.until = u64::MAX;
            starting.waits = true;
        }
    }

    /// A worker asks to be replaced.
    pub(super) fn asked(&mut self, id: Id, reason: Reason) {
        let concerned = |slot: &&mut Slot| slot.serves(id) || slot.starts(id);
        let Some(slot) = self.slots.iter_mut().find(concerned) else { return };
        if let Some(serving) = slot.serving.as_mut().filter(|serving| serving.id == id) {
            serving.wanted.get_or_insert(Cause::Asked(reason));
        }
        if let Some(starting) = slot.starting.as_mut().filter(|_| reason == Reason::Changed) {
            starting.is_outdated = true;
            starting.asks |= starting.id == id;
        }
    }

    /// Whether the worker `id`, which is being started, is to take the place of one that serves.
    pub(super) fn replaces(&self, id: Id) -> bool {
        self.slots.iter().any(|slot| slot.starts(id) && slot.serving.is_some())
    }

    /// Whether the worker `id` does not serve yet.
    pub(super) fn is_starting(&self, id: Id) -> bool {
        self.slots.iter().any(|slot| slot.starts(id))
    }

    /// A worker's process has ended.
    pub(super) fn ended(&mut self, id: Id, now: u64) -> End {
        self.next_turn.take_if(|turn| turn.after == id);
        if let Some(place) = self.leaving.iter().position(|leaving| leaving.id == id) {
            let leaving = self.leaving.remove(place);
            return match leaving {
                Leaving { served: false, .. } => End::Abandoned,
                Leaving { killed: true, .. } => End::Cut,
                _ => End::Told,
            };
        }
        for slot in &mut self.slots {
            if let Some(serving) = slot.serving.take_if(|serving| serving.id == id) {
                slot.cause = Cause::Crash;
                slot.failed(now, now.saturating_sub(serving.since) < OF_USE);
                return End::Crash;
            }
            if let Some(starting) = slot.starting.take_if(|starting| starting.id == id) {
                slot.failed(now, !starting.waits);
                if !starting.is_outdated {
                    self.start_failed(starting.cause, now);
                }
                return End::Start(starting.cause);
            }
        }
        End::Unknown
    }

    fn start_failed(&mut self, cause: Cause, now: u64) {
        if matches!(cause, Cause::Reload | Cause::Asked(Reason::Changed)) {
            // What does not start once does not start elsewhere: the old ones stay.
            self.serving().for_each(|serving| {
                serving.wanted.take_if(|wanted| *wanted == cause);
            });
        }
        if self.start_is_vital() {
            self.end(Ending::Failed, now);
        }
    }

    /// Has every worker replaced, one after the other, and `wanted` of them.
    pub(super) fn reload(&mut self, wanted: usize, patience: Patience, now: u64) {
        self.patience = patience;
        self.resize(wanted, now);
        for slot in &mut self.slots {
            slot.failures = 0;
            slot.not_before = 0;
        }
        // Those that are starting may have read what was there before.
        let starting = self.slots.iter_mut().filter_map(|slot| slot.starting.take());
        for starting in starting.collect::<Vec<_>>() {
            self.abandon(starting, now);
        }
        self.serving().for_each(|serving| serving.wanted = Some(Cause::Reload));
    }

    /// Has so many workers from now on.
    pub(super) fn resize(&mut self, wanted: usize, now: u64) {
        let too_many = self.slots.len().min(wanted)..;
        for slot in self.slots.drain(too_many).collect::<Vec<_>>() {
            self.leave(slot, now);
        }
        self.slots.resize(wanted, Slot::default());
    }

    /// Ends everything; of several calls the quickest counts.
    pub(super) fn end(&mut self, how: Ending, now: u64) {
        if self.ending >= Some(how) {
            return;
        }
        self.ending = Some(how);
        if self.is_hurried() {
            self.hurry(now);
        }
        self.resize(0, now);
    }

    fn is_hurried(&self) -> bool {
        self.ending > Some(Ending::Graceful)
    }

    /// Those told to drain are told to stop.
    fn hurry(&mut self, now: u64) {
        for leaving in self.leaving.iter_mut().filter(|leaving| leaving.served) {
            leaving.until = leaving.until.min(now + self.patience.quick + MARGIN);
            self.actions.push(Action::Stop(leaving.id));
        }
    }

    /// Nothing is waited for any longer than until `then`.
    pub(super) fn kill_all(&mut self, then: u64) {
        for leaving in &mut self.leaving {
            leaving.until = leaving.until.min(then);
        }
    }

    /// How it ends, if it does.
    pub(super) fn ending(&self) -> Option<Ending> {
        self.ending
    }

    /// How long the slot that waits longest for a worker still waits, because those before failed.
    pub(super) fn pause(&self, now: u64) -> u64 {
        let waits = |slot: &Slot| slot.missing().map(|_| slot.not_before.saturating_sub(now));
        self.slots.iter().filter_map(waits).max().unwrap_or_default()
    }

    /// Whether a worker that cannot start ends everything: none has served yet.
    pub(super) fn start_is_vital(&self) -> bool {
        !self.was_ready && !self.patience.waits_for_repair
    }

    /// Whether no worker is left, nor to come.
    pub(super) fn is_over(&self) -> bool {
        self.ending.is_some() && self.leaving.is_empty()
    }

    /// Whether there are to be no workers for now.
    pub(super) fn is_paused(&self) -> bool {
        self.slots.is_empty()
    }

    /// Whether every worker that is wanted serves, and is to go on.
    pub(super) fn is_settled(&self) -> bool {
        let stays = |slot: &Slot| slot.serving.is_some_and(|serving| serving.wanted.is_none());
        self.slots.iter().all(|slot| slot.starting.is_none() && stays(slot))
    }

    /// The workers that serve.
    pub(super) fn serving_ids(&self) -> impl Iterator<Item = Id> {
        self.slots.iter().filter_map(|slot| slot.serving.map(|serving| serving.id))
    }

    /// What follows from all that happened.
    pub(super) fn advance(&mut self, now: u64) -> Vec<Action> {
        self.retire(now);
        for index in 0..self.slots.len() {
            self.fill(index, now);
        }
        self.press(now);
        std::mem::take(&mut self.actions)
    }

    /// When [`advance`](Fleet::advance) has something to do even if nothing happens.
    pub(super) fn next_time(&self) -> Option<u64> {
        let alive = self.leaving.iter().filter(|leaving| !leaving.killed);
        let leaving = alive.map(|leaving| leaving.until);
        // A slot whose turn has not come is waited for as the one before it is.
        let turns = self.reloads_one() || self.next_turn.is_some();
        let slots = self.slots.iter().filter_map(|slot| slot.next_time(turns));
        leaving.chain(slots).chain(self.turn_time()).min()
    }

    /// When the next slot has its turn, if one waits for it and none has it.
    fn turn_time(&self) -> Option<u64> {
        let waits = |slot: &Slot| slot.missing() == Some(Cause::Reload);
        let turn = self.next_turn.filter(|_| !self.reloads_one())?;
        self.slots.iter().any(waits).then_some(turn.at)
    }

    /// Whether a slot that is to be reloaded may begin.
    fn has_turn(&self, now: u64) -> bool {
        !self.reloads_one() && self.next_turn.is_none_or(|turn| now >= turn.at)
    }

    /// Whether a slot has its turn of a reload: the others wait.
    fn reloads_one(&self) -> bool {
        let reloads = |slot: &Slot| slot.starting.is_some_and(|one| one.cause == Cause::Reload);
        self.slots.iter().any(reloads)
    }

    fn serving(&mut self) -> impl Iterator<Item = &mut Serving> {
        self.slots.iter_mut().filter_map(|slot| slot.serving.as_mut())
    }

    fn retire(&mut self, now: u64) {
        for serving in self.serving() {
            if serving.retires_at.take_if(|at| *at <= now).is_some() {
                serving.wanted.get_or_insert(Cause::Asked(Reason::Lifetime));
            }
        }
    }

    /// Starts a worker where one is missing, or is to take the place of another.
    fn fill(&mut self, index: usize, now: u64) {
        let slot = &self.slots[index];
        let Some(cause) = slot.missing().filter(|_| now >= slot.not_before) else { return };
        if cause == Cause::Reload && !self.has_turn(now) {
            return;
        }
        let id = self.next_id;
        self.next_id += 1;
        let until = now.saturating_add(self.patience.start);
        self.slots[index].starting =
            Some(Starting { id, cause, until, waits: false, is_outdated: false, asks: false });
        self.actions.push(Action::Start(id, cause));
    }

    /// Deals with those that take too long.
    fn press(&mut self, now: u64) {
        let starting = self.slots.iter_mut().filter_map(|slot| slot.starting.as_mut());
        for starting in starting.filter(|starting| starting.until <= now) {
            // It counts as starting until it has ended, which is then a failure to start.
            starting.until = u64::MAX;
            self.actions.push(Action::Kill(starting.id));
        }
        for leaving in self.leaving.iter_mut().filter(|one| !one.killed && one.until <= now) {
            leaving.killed = true;
            self.actions.push(Action::Kill(leaving.id));
        }
    }

    fn leave(&mut self, slot: Slot, now: u64) {
        if let Some(starting) = slot.starting {
            self.abandon(starting, now);
        }
        if let Some(serving) = slot.serving {
            self.drain(serving, now);
        }
    }

    fn drain(&mut self, Serving { id, .. }: Serving, now: u64) {
        let action = if self.is_hurried() { Action::Stop(id) } else { Action::Drain(id) };
        let until = self.drain_limit(now);
        self.leaving.push(Leaving { id, served: true, until, killed: false });
        self.actions.push(action);
    }

    /// Until when one that drains from now on may take.
    fn drain_limit(&self, now: u64) -> u64 {
        let longest = if self.is_hurried() { self.patience.quick } else { self.patience.graceful };
        now.saturating_add(longest).saturating_add(MARGIN)
    }

    fn abandon(&mut self, Starting { id, .. }: Starting, now: u64) {
        self.leaving.push(Leaving { id, served: false, until: now + MARGIN, killed: false });
        self.actions.push(Action::Abandon(id));
    }
}

/// A worker that has served so long was of use.
const OF_USE: u64 = 1_000;

/// How long the next worker of a reload is not started while the one replaced before ends: two at once would take the processors from
/// those that serve.
const PACE: u64 = 1_000;

/// What a worker may take to end beyond its own deadline.
const MARGIN: u64 = 2_000;

#[cfg(test)]
mod tests;
