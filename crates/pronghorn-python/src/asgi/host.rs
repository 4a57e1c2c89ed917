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

use super::{
    drain::Drain,
    either::Either,
    engine::Engine,
    event_loop::Stop,
    failure,
    http::Events,
    raw::{Call, Conversation, Ended, Keeping, Types, When},
    request_tasks::task_of,
    scope::{Origin, Scopes},
    task::Tasks,
    under_way::{Request, UnderWay},
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
    pub(super) under_way: UnderWay,
    /// Until the drain begins.
    drain: RefCell<Option<Drain>>,
    /// When it has to be over.
    deadline: Cell<Option<Instant>>,
    /// Stops the loop when the server is over.
    stop: Stop,
    /// The loop runs for the server.
    is_serving: Cell<bool>,
    /// The tasks of requests that were cut, once they were.
    cut: RefCell<Option<Vec<Py<PyAny>>>>,
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
    pub(super) stop: Stop,
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
            under_way: UnderWay::default(),
            drain: RefCell::new(Some(parts.drain)),
            deadline: Cell::new(None),
            stop: parts.stop,
            is_serving: Cell::new(true),
            cut: RefCell::default(),
        })
    }

    /// Whether the server has drained, and no task of a request is left that may still end in time.
    pub(super) fn is_over(&self) -> bool {
        let hosted = self.hosted.borrow();
        let is_late = self.deadline.get().is_some_and(|deadline| Instant::now() >= deadline)
            || hosted.as_ref().is_some_and(Hosted::is_overdue);
        let has_drained = hosted.as_ref().is_none_or(Hosted::is_over);
        has_drained && (is_late || self.under_way.is_empty())
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
        for Request { call, .. } in self.under_way.all(py) {
            tell(&call);
            self.settle(py, call.stir(py, When::Soon));
        }
    }

    /// The task of a request has ended.
    pub(super) fn forget(&self, number: u64) {
        self.under_way.forget(number);
        if self.deadline.get().is_some() {
            Python::attach(|py| self.stop_if_over(py));
        }
    }

    /// `when`: a task may go on.
    fn take(self: &Rc<Self>, py: Python<'_>, occurrence: Occurrence, when: When) {
        match occurrence {
            Occurrence::Begun(dialogue) => self.begin(py, dialogue, when),
            Occurrence::Stirred(number) => self.stir(py, number, when),
            Occurrence::Late(number, late) => self.late(py, number, late),
            Occurrence::Draining => self.drain(py),
        }
    }

    fn begin(self: &Rc<Self>, py: Python<'_>, dialogue: Box<Dialogue>, when: When) {
        let number = dialogue.number();
        let scope = self.scope(py, &dialogue);
        let call = Call::new(py, &self.types, Either::new(self, dialogue));
        self.under_way.starts(number, &call);
        let task = scope.and_then(|scope| self.start(py, &call, scope, when));
        let has_ended = call.http().has_ended();
        self.under_way
            .started(task.as_ref().ok().filter(|_| !has_ended).map(|it| it.clone_ref(py)));
        match task {
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
        when: When,
    ) -> PyResult<Py<PyAny>> {
        let receive = self.types.receive(py, call.clone())?;
        let send = self.types.send(py, call.clone())?;
        let awaitable = self.application.bind(py).call1((scope, receive, send))?;
        let driven = self.types.drive(call.clone(), awaitable)?;
        Ok(self.tasks.start(driven, when)?.unbind())
    }

    fn stir(&self, py: Python<'_>, number: u64, when: When) {
        if let Some(Request { call, .. }) = self.under_way.get(py, number) {
            self.settle(py, call.stir(py, when));
        }
    }

    /// The call of a request with its task; none if it has no task as yet.
    pub(super) fn with_task(
        &self,
        py: Python<'_>,
        request: Request,
    ) -> Option<(Rc<Call<Either>>, Py<PyAny>)> {
        let Request { call, task } = request;
        let task = task.or_else(|| {
            // Its first step runs the loop on.
            let found = task_of(self.event_loop(py), &self.types.applications(py), call.summary());
            found.ok().flatten().map(Bound::unbind)
        });
        Some((call, task?))
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

    /// Stops the loop if the server is over; gives whether it is. Again and again: a run within a run may take a stop for itself.
    fn stop_if_over(&self, py: Python<'_>) -> bool {
        let is_over = self.is_serving.get() && self.is_over();
        if is_over {
            // What goes on until the loop has stopped could still answer.
            self.cut(py);
            self.settle(py, self.stop.stop(py));
        }
        is_over
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
        let keeping = Keeping::new(py);
        let mut when = None;
        loop {
            let occurrence = self.0.hosted().next();
            let Some(occurrence) = occurrence else { break };
            let when = *when.get_or_insert_with(|| self.0.tasks.when(py));
            let depth = self.0.under_way.depth();
            // A panic is a fault of the server, and costs one request.
            if catch_unwind(AssertUnwindSafe(|| self.0.take(py, occurrence, when))).is_err() {
                log::error!("the server panicked over a request; please report this");
                self.0.under_way.truncate(depth);
            }
        }
        drop(keeping);
        self.0.stop_if_over(py) || when.is_some()
    }
}

impl Host {
    /// Ends the engine's part. Nothing runs any more.
    pub(super) fn end(&self) {
        if let Some(hosted) = self.hosted.take() {
            hosted.end();
        }
    }

    /// The loop does not run for the server any more. Requests that are left are cut; their tasks, which were cancelled, are given.
    pub(super) fn stop_serving<'py>(&self, py: Python<'py>) -> Vec<Bound<'py, PyAny>> {
        self.is_serving.set(false);
        self.cut(py);
        let cut = self.cut.borrow();
        cut.iter().flatten().map(|task| task.bind(py).clone()).collect()
    }

    /// Cuts the requests that are left, once, and cancels their tasks.
    fn cut(&self, py: Python<'_>) {
        if self.cut.borrow().is_some() {
            return;
        }
        self.cut.replace(Some(Vec::new()));
        for request in self.under_way.all(py) {
            request.call.http().cut();
            let Some((_, task)) = self.with_task(py, request) else { continue };
            let cancelled = task.bind(py).call_method0(intern!(py, "cancel"));
            self.settle(py, cancelled.map(drop));
            self.cut.borrow_mut().get_or_insert_default().push(task);
        }
    }

    /// The engine's part, while the host serves.
    fn hosted(&self) -> RefMut<'_, Hosted> {
        RefMut::map(self.hosted.borrow_mut(), |hosted| {
            hosted.as_mut().expect("the loop leaves the engine before its end")
        })
    }
}
