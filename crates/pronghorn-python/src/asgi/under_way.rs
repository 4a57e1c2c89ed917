//! The requests whose applications have not ended: their calls and their tasks.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
};

use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::{either::Either, raw::Call};

/// As the engine names a connection.
pub(super) type Slot = (u32, u32);

/// All of them, by numbers that are never used again. Nothing is borrowed while code of the application may run.
#[derive(Default)]
pub(super) struct UnderWay {
    next: Cell<u64>,
    /// Those whose task is being started: the last is the one whose first step runs, unless that has run the loop on.
    starting: RefCell<Vec<(Key, Rc<Call<Either>>)>>,
    running: RefCell<FxHashMap<u64, Request>>,
    /// The number of the request that the engine speaks about, by its connection.
    numbers: RefCell<FxHashMap<Slot, u64>>,
}

/// By what a request is known.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Key {
    pub(super) number: u64,
    pub(super) slot: Slot,
}

/// One of them.
pub(super) struct Request {
    pub(super) call: Rc<Call<Either>>,
    /// `None` while it is being started.
    pub(super) task: Option<Py<PyAny>>,
}

impl UnderWay {
    /// A key for the next request, which comes by `slot`.
    pub(super) fn key(&self, slot: Slot) -> Key {
        let number = self.next.get();
        self.next.set(number + 1);
        Key { number, slot }
    }

    /// The task of `call` is started from here on, until [`started`](UnderWay::started).
    #[inline]
    pub(super) fn starts(&self, key: Key, call: &Rc<Call<Either>>) {
        self.starting.borrow_mut().push((key, call.clone()));
    }

    /// `task` was started last. `None` if there is none, or it has ended.
    #[inline]
    pub(super) fn started(&self, task: Option<Py<PyAny>>) {
        let started = self.starting.borrow_mut().pop();
        let (Some((Key { number, slot }, call)), Some(task)) = (started, task) else { return };
        self.running.borrow_mut().insert(number, Request { call, task: Some(task) });
        // By now its connection may be at a later request.
        let mut numbers = self.numbers.borrow_mut();
        numbers.entry(slot).and_modify(|other| *other = number.max(*other)).or_insert(number);
    }

    /// How many are being started.
    pub(super) fn depth(&self) -> usize {
        self.starting.borrow().len()
    }

    /// Forgets those that were being started beyond `depth`.
    pub(super) fn truncate(&self, depth: usize) {
        let left = self.starting.borrow_mut().split_off(depth);
        drop(left);
    }

    /// The request has ended.
    pub(super) fn forget(&self, key: Key) {
        let ended = self.running.borrow_mut().remove(&key.number);
        let mut numbers = self.numbers.borrow_mut();
        if numbers.get(&key.slot) == Some(&key.number) {
            numbers.remove(&key.slot);
        }
        drop(numbers);
        drop(ended);
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        let has_ended = |(_, call): &(Key, Rc<Call<Either>>)| call.http().has_ended();
        self.running.borrow().is_empty() && self.starting.borrow().iter().all(has_ended)
    }

    /// The request that the engine speaks about.
    pub(super) fn find(&self, py: Python<'_>, slot: Slot) -> Option<Request> {
        let running = self.numbers.borrow().get(&slot).copied();
        let starting = self.starting.borrow();
        let starting =
            starting.iter().filter(|(key, _)| key.slot == slot).map(|(key, _)| key.number);
        let number = running.into_iter().chain(starting).max()?;
        self.get(py, number)
    }

    /// The request of this number.
    pub(super) fn get(&self, py: Python<'_>, number: u64) -> Option<Request> {
        if let Some(request) = self.running.borrow().get(&number) {
            return Some(request.clone(py));
        }
        let starting = self.starting.borrow();
        let (_, call) = starting.iter().find(|(key, _)| key.number == number)?;
        Some(Request { call: call.clone(), task: None })
    }

    /// All of them.
    pub(super) fn all(&self, py: Python<'_>) -> Vec<Request> {
        let starting = self.starting.borrow();
        let starting = starting.iter().filter(|(_, call)| !call.http().has_ended());
        let starting = starting.map(|(_, call)| Request { call: call.clone(), task: None });
        self.running.borrow().values().map(|one| one.clone(py)).chain(starting).collect()
    }
}

impl Request {
    fn clone(&self, py: Python<'_>) -> Self {
        let task = self.task.as_ref().map(|task| task.clone_ref(py));
        Request { call: self.call.clone(), task }
    }
}
