//! The requests whose applications have not ended: their calls and their tasks.

use std::{cell::RefCell, rc::Rc};

use pyo3::prelude::*;
use rustc_hash::FxHashMap;

use super::{either::Either, raw::Call};

/// All of them, by the engine's numbers, which are never used again. Nothing is borrowed while code of the application may run.
#[derive(Default)]
pub(super) struct UnderWay {
    /// Those whose task is being started: the last is the one whose first step runs, unless that has run the loop on.
    starting: RefCell<Vec<(u64, Rc<Call<Either>>)>>,
    running: RefCell<FxHashMap<u64, Request>>,
}

/// One of them.
pub(super) struct Request {
    pub(super) call: Rc<Call<Either>>,
    /// `None` while it is being started.
    pub(super) task: Option<Py<PyAny>>,
}

impl UnderWay {
    /// The task of `call` is started from here on, until [`started`](UnderWay::started).
    #[inline]
    pub(super) fn starts(&self, number: u64, call: &Rc<Call<Either>>) {
        self.starting.borrow_mut().push((number, call.clone()));
    }

    /// `task` was started last. `None` if there is none, or it has ended.
    #[inline]
    pub(super) fn started(&self, task: Option<Py<PyAny>>) {
        let started = self.starting.borrow_mut().pop();
        let (Some((number, call)), Some(task)) = (started, task) else { return };
        self.running.borrow_mut().insert(number, Request { call, task: Some(task) });
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
    pub(super) fn forget(&self, number: u64) {
        let ended = self.running.borrow_mut().remove(&number);
        drop(ended);
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        let has_ended = |(_, call): &(u64, Rc<Call<Either>>)| call.http().has_ended();
        self.running.borrow().is_empty() && self.starting.borrow().iter().all(has_ended)
    }

    /// The request of this number.
    pub(super) fn get(&self, py: Python<'_>, number: u64) -> Option<Request> {
        if let Some(request) = self.running.borrow().get(&number) {
            return Some(request.clone(py));
        }
        let starting = self.starting.borrow();
        let (_, call) = starting.iter().find(|(other, _)| *other == number)?;
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
