//! The host: takes the engine's turns in the event loop, begins an application's task for each request, and wakes those that wait.

use std::{
    cell::{Cell, RefCell, RefMut},
    io,
    os::fd::{AsRawFd, BorrowedFd, RawFd},
    panic::{AssertUnwindSafe, catch_unwind},
    rc::Rc,
    time::{Duration, Instant},
};

use pronghorn_engine::{Dialogue, Hosted, Occurrence, Reason};
use pyo3::{intern, prelude::*};
use rustc_hash::FxHashMap;

use super::{
    drain::Drain,
    either::Either,
    engine::Engine,
    failure,
    http::Events,
    raw::{Call, Conversation, Ended, Types, When},
    scope::{Origin, Scopes},
    task::Tasks,
};

/// Serves an ASGI application in the event loop of this thread.
pub(super) struct Host {
    /// Until the end: what the application has of the host may outlive it.
    hosted: RefCell<Option<Hosted>>,
    application: Py<PyAny>,
    event_loop: Py<PyAny>,
    pub(super) scopes: Scopes,
    pub(super) events: Rc<Events>,
    types: Rc<Types>,
    tasks: Tasks,
    pub(super) debug: bool,
    /// How long a task may take to end when it was cancelled for its time.
    pub(super) grace: Duration,
    /// Tasks that have not ended, by their number.
    running: RefCell<FxHashMap<u64, Running>>,
    /// The number of the task that the engine speaks to, by the slot of its connection.
    numbers: RefCell<FxHashMap<Slot, u64>>,
    next: Cell<u64>,
    /// Turns under way: more than one when an application runs the loop within a turn.
    turns: Cell<usize>,
    /// Until the drain begins.
    drain: RefCell<Option<Drain>>,
    /// When it has to be over.
    deadline: Cell<Option<Instant>>,
    /// The loop was stopped as the server is over. Once is enough: uvloop would end its next run too.
    has_stopped: Cell<bool>,
}

/// As the engine names a connection.
pub(super) type Slot = (u32, u32);

struct Running {
    call: Rc<Call<Either>>,
    task: Py<PyAny>,
}

/// What a host is made of.
pub(super) struct Parts {
    pub(super) application: Py<PyAny>,
    pub(super) event_loop: Py<PyAny>,
    pub(super) scopes: Scopes,
    pub(super) events: Rc<Events>,
    pub(super) types: Rc<Types>,
    pub(super) tasks: Tasks,
    pub(super) debug: bool,
    pub(super) grace: Duration,
    pub(super) drain: Drain,
}

impl Host {
    pub(super) fn new(hosted: Hosted, parts: Parts) -> Rc<Self> {
        Rc::new(Host {
            hosted: RefCell::new(Some(hosted)),
            application: parts.application,
            event_loop: parts.event_loop,
            scopes: parts.scopes,
            events: parts.events,
            types: parts.types,
            tasks: parts.tasks,
            debug: parts.debug,
            grace: parts.grace,
            running: RefCell::default(),
            numbers: RefCell::default(),
            next: Cell::new(0),
            turns: Cell::new(0),
            drain: RefCell::new(Some(parts.drain)),
            deadline: Cell::new(None),
            has_stopped: Cell::new(false),
        })
    }

    /// Whether the server has drained, and no task of a request is left that may still end in time.
    pub(super) fn is_over(&self) -> bool {
        let hosted = self.hosted.borrow();
        let is_late = self.deadline.get().is_some_and(|deadline| Instant::now() >= deadline)
            || hosted.as_ref().is_some_and(Hosted::is_overdue);
        let has_drained = hosted.as_ref().is_none_or(Hosted::is_over);
        has_drained && (is_late || self.running.borrow().is_empty())
    }

    /// When the drain has to be over; `None` before it begins.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.deadline.get()
    }

    /// Tells streams that the server stops: to them, their clients have gone.
    pub(super) fn tell_streams(&self, py: Python<'_>) {
        self.tell(py, |call| call.http().dismiss());
    }

    /// Ends the WebSockets, as the server stops.
    fn end_websockets(&self, py: Python<'_>) {
        self.tell(py, |call| {
            if let Either::WebSocket(websocket) = &**call {
                websocket.go_away();
            }
        });
    }

    fn tell(&self, py: Python<'_>, tell: impl Fn(&Call<Either>)) {
        let calls: Vec<_> = self.running.borrow().values().map(|one| one.call.clone()).collect();
        for call in calls {
            tell(&call);
            self.settle(py, call.stir(py, When::Soon));
        }
    }

    /// The task of a request has ended.
    pub(super) fn forget(&self, number: u64, slot: Slot) {
        let ended = self.running.borrow_mut().remove(&number);
        let mut numbers = self.numbers.borrow_mut();
        if numbers.get(&slot) == Some(&number) {
            numbers.remove(&slot);
        }
        drop(numbers);
        drop(ended);
        if self.deadline.get().is_some() {
            Python::attach(|py| self.stop_if_over(py));
        }
    }

    fn take(self: &Rc<Self>, py: Python<'_>, occurrence: Occurrence) {
        match occurrence {
            Occurrence::Begun(dialogue) => self.begin(py, dialogue),
            Occurrence::Stirred(slot) => self.stir(py, slot),
            Occurrence::Late(slot, late) => self.late(py, slot, late),
            Occurrence::Draining => self.drain(py),
        }
    }

    fn begin(self: &Rc<Self>, py: Python<'_>, dialogue: Box<Dialogue>) {
        let (number, slot) = (self.next.get(), dialogue.slot());
        self.next.set(number + 1);
        let scope = self.scope(py, &dialogue);
        let call = Call::new(py, &self.types, Either::new(self, number, dialogue));
        let task = scope.and_then(|scope| self.start(py, &call, scope));
        match task {
            Ok(task) if !call.http().has_ended() => {
                self.numbers.borrow_mut().insert(slot, number);
                self.running.borrow_mut().insert(number, Running { call, task });
            }
            Ok(_) => {}
            Err(error) if !call.http().has_ended() => call.ended(py, Ended::Raised(&error)),
            // No task could be made, and its coroutine has told of its own end.
            Err(error) => drop(failure::report(py, &call.summary().to_string(), &error)),
        }
    }

    fn scope<'py>(&self, py: Python<'py>, dialogue: &Dialogue) -> PyResult<Bound<'py, PyAny>> {
        let Some(origin) = Origin::of(dialogue) else { return Ok(py.None().into_bound(py)) };
        let scope = match dialogue.asks_for_websocket() {
            true => self.scopes.websocket(py, origin)?,
            false => self.scopes.http(py, origin)?,
        };
        Ok(scope.into_any())
    }

    /// Calls the application, and takes the first step of what it gives.
    fn start(
        &self,
        py: Python<'_>,
        call: &Rc<Call<Either>>,
        scope: Bound<'_, PyAny>,
    ) -> PyResult<Py<PyAny>> {
        let receive = self.types.receive(py, call.clone())?;
        let send = self.types.send(py, call.clone())?;
        let awaitable = self.application.bind(py).call1((scope, receive, send))?;
        let driven = self.types.drive(call.clone(), awaitable)?;
        Ok(self.tasks.start(driven)?.unbind())
    }

    fn stir(&self, py: Python<'_>, slot: Slot) {
        if let Some((call, _)) = self.find(py, slot) {
            // Within another task's step none may begin.
            let when = if self.turns.get() > 1 { When::Soon } else { When::Now };
            self.settle(py, call.stir(py, when));
        }
    }

    /// The call and the task that the engine speaks to.
    pub(super) fn find(&self, py: Python<'_>, slot: Slot) -> Option<(Rc<Call<Either>>, Py<PyAny>)> {
        let number = *self.numbers.borrow().get(&slot)?;
        self.running(py, number)
    }

    /// Those of this number, if the task has not ended.
    pub(super) fn running(
        &self,
        py: Python<'_>,
        number: u64,
    ) -> Option<(Rc<Call<Either>>, Py<PyAny>)> {
        let running = self.running.borrow();
        let running = running.get(&number)?;
        Some((running.call.clone(), running.task.clone_ref(py)))
    }

    pub(super) fn settle(&self, py: Python<'_>, outcome: PyResult<()>) {
        if let Err(error) = outcome
            && !failure::survives(py, &error)
        {
            error.write_unraisable(py, Some(self.event_loop.bind(py)));
        }
    }

    fn drain(self: &Rc<Self>, py: Python<'_>) {
        let Some(drain) = self.drain.take() else { return };
        self.end_websockets(py);
        let begun = drain.begin(self, self.event_loop.bind(py));
        self.settle(py, begun.map(|deadline| self.deadline.set(Some(deadline))));
    }

    /// Asks for another process in the place of this one; false if nobody is there to be asked.
    pub(super) fn ask_for_replacement(&self, reason: Reason) -> bool {
        let hosted = self.hosted.borrow();
        hosted.as_ref().is_some_and(|hosted| hosted.ask_for_replacement(reason))
    }

    pub(super) fn event_loop<'py>(&self, py: Python<'py>) -> &Bound<'py, PyAny> {
        self.event_loop.bind(py)
    }

    /// There is no more time for tasks that run.
    pub(super) fn give_up(&self, py: Python<'_>) {
        self.deadline.set(Some(Instant::now()));
        self.stop_if_over(py);
    }

    fn stop_if_over(&self, py: Python<'_>) {
        if !self.is_over() || self.has_stopped.replace(true) {
            return;
        }
        let stopped = self.event_loop.bind(py).call_method0(intern!(py, "stop"));
        self.settle(py, stopped.map(drop));
    }
}

/// The engine's turns, for the loop. An `Rc` of its own, as a request refers to the host.
pub(super) struct Turns(pub(super) Rc<Host>);

impl Engine for Turns {
    fn selector(&self) -> RawFd {
        self.0.hosted().selector().as_raw_fd()
    }

    fn bell(&self) -> RawFd {
        self.0.hosted().bell().as_raw_fd()
    }

    fn watch_also(&self, descriptor: BorrowedFd<'_>) -> io::Result<()> {
        self.0.hosted().watch_also(descriptor)
    }

    fn poll(&self, millis: Option<u64>) {
        self.0.hosted().poll(millis);
    }

    fn takes_other(&self) -> bool {
        self.0.hosted().takes_other()
    }

    fn hush(&self) {
        self.0.hosted().hush();
    }

    fn turn(&self, py: Python<'_>) -> bool {
        let turns = self.0.turns.get();
        self.0.turns.set(turns + 1);
        let mut was_busy = false;
        loop {
            let occurrence = self.0.hosted().next();
            let Some(occurrence) = occurrence else { break };
            was_busy = true;
            // A panic is a fault of the server, and costs one request.
            if catch_unwind(AssertUnwindSafe(|| self.0.take(py, occurrence))).is_err() {
                log::error!("the server panicked over a request; please report this");
            }
        }
        self.0.turns.set(turns);
        self.0.stop_if_over(py);
        was_busy
    }
}

impl Host {
    /// Ends the engine's part. Nothing runs any more.
    pub(super) fn end(&self) {
        if let Some(hosted) = self.hosted.take() {
            hosted.end();
        }
    }

    /// Cuts the requests that are left, and cancels their tasks, which are given.
    pub(super) fn cut<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyAny>> {
        let running: Vec<_> = {
            let running = self.running.borrow();
            running.values().map(|one| (one.call.clone(), one.task.clone_ref(py))).collect()
        };
        let cancel = |(call, task): (Rc<Call<Either>>, Py<PyAny>)| {
            call.http().cut();
            let task = task.into_bound(py);
            self.settle(py, task.call_method0(intern!(py, "cancel")).map(drop));
            task
        };
        running.into_iter().map(cancel).collect()
    }

    /// The engine's part, while the host serves.
    fn hosted(&self) -> RefMut<'_, Hosted> {
        RefMut::map(self.hosted.borrow_mut(), |hosted| {
            hosted.as_mut().expect("the loop leaves the engine before its end")
        })
    }
}
