//! The event loop's own state: connections, deadlines, spare buffers, listeners. One thread at a time has it, for the time
//! of a batch of events or of one connection put back.

use std::collections::VecDeque;
use std::os::fd::OwnedFd;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use pronghorn_proto::state::State;

use crate::address::Peer;
use crate::config::Config;
use crate::conn::{Outbox, Phase, Table, Token};
use crate::dialogue::Compression;
use crate::handler::Handler;
use crate::hosted::ForHost;
use crate::listener::Listener;
use crate::own::Health;
use crate::request::{Pool, Request};
use crate::request_id::Identifiers;
use crate::sys::{self, Ready, Selector, Timer};
use crate::timer::{Reminder, Wheel};

/// A complete request on its way to a handler. It has the connection's socket: until it comes back, nobody else reads or
/// writes that, or closes it.
pub(crate) struct Job {
    pub(crate) token: Token,
    pub(crate) socket: OwnedFd,
    pub(crate) state: State,
    pub(crate) request: Box<Request>,
    pub(crate) peer: Peer,
    pub(crate) listener: u16,
}

/// Tokens from here on are not connections: the waker, what gives orders, the timer, then the listeners.
pub(crate) const WAKER: u64 = u64::MAX;
pub(crate) const ORDERS: u64 = u64::MAX - 1;
const TIMER: u64 = u64::MAX - 2;
pub(crate) const HOST: u64 = u64::MAX - 3;
const FIRST_LISTENER: u64 = u64::MAX - 4;
const LAST_LISTENER: u64 = FIRST_LISTENER - u16::MAX as u64;

pub(crate) struct EventLoop {
    pub(crate) config: Arc<Config>,
    pub(crate) handler: Arc<dyn Handler>,
    pub(crate) selector: Arc<Selector>,
    pub(crate) conns: Table,
    pub(crate) wheel: Wheel,
    timer: Timer,
    /// What the timer is set to, in milliseconds; over when that is.
    timer_at: u64,
    pub(crate) pool: Pool,
    /// Only if requests get identifiers.
    identifiers: Option<Identifiers>,
    pub(crate) listeners: Vec<Listener>,
    pub(crate) accepting: Accepting,
    /// Given up for a connection when there is no other descriptor.
    pub(crate) spare: Option<OwnedFd>,
    /// Nobody goes on with the listeners after this process.
    pub(crate) ends_listeners: bool,
    /// Milliseconds of the monotonic clock, as of the latest turn.
    pub(crate) now: u64,
    /// What the selector reported and nobody has handled yet. A leader that is promoted away leaves them to the next.
    pub(crate) events: VecDeque<Ready>,
    time_is_due: bool,
    one_at_a_time: bool,
    /// What the leader itself is wanted for.
    pub(crate) called: Called,
    /// Requests that became complete and are not in the run queue yet.
    pub(crate) ready: Vec<Job>,
    /// Requests that became complete while there were as many as there may be: they are answered without running.
    pub(crate) excess: VecDeque<Job>,
    /// Requests that are queued or run, or are about to be.
    pub(crate) in_flight: usize,
    /// How many dialogues there were.
    pub(crate) dialogues: u64,
    /// Connections with more to read or write than one turn takes.
    pub(crate) again: Vec<Token>,
    pub(crate) scratch: Vec<u8>,
    /// The thread that has the loop is attached: the handler can lend memory.
    pub(crate) attached: bool,
    pub(crate) draining: bool,
    /// When the drain has taken too long.
    pub(crate) drain_until: u64,
    /// Until when the leader waits for events; 0 while it does not wait.
    pub(crate) waits_until: u64,
    /// Something is due before the leader's wait ends: it has to be woken.
    pub(crate) wake_leader: bool,
    reminders: Vec<Reminder>,
    /// Some requests are for the server itself.
    pub(crate) answers_itself: bool,
    /// It is answering one.
    pub(crate) is_answering: bool,
    /// The places in the list of the listeners for metrics.
    pub(crate) metrics_listeners: Vec<u16>,
    pub(crate) health: Health,
    /// What compressed WebSockets need.
    pub(crate) compression: Compression,
    /// What waits for the host, if the server has one.
    pub(crate) for_host: Option<ForHost>,
    /// What is kept to go out together.
    pub(crate) outbox: Outbox,
}

/// How far the work on events came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// A request is ready; events are left.
    Interrupted,
    Done,
}

/// Events that are for the leader and not for a connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Called {
    pub(crate) orders: bool,
    pub(crate) waker: bool,
    /// What the host wants to be told of.
    pub(crate) host: bool,
    /// Time has come for something.
    pub(crate) timer: bool,
}

impl Called {
    /// Whether the leader has something to do, which it may have waited for.
    pub(crate) fn needs_leader(self) -> bool {
        self.orders || self.waker || self.timer
    }
}

/// Whether connections are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Accepting {
    Yes,
    /// No descriptor or memory was to be had: try again at this time.
    PausedUntil(u64),
    /// There are as many connections as there may be.
    Full,
    /// Never again: the server drains.
    No,
}

impl EventLoop {
    pub(crate) fn new(
        config: Arc<Config>,
        handler: Arc<dyn Handler>,
        selector: Arc<Selector>,
        listeners: Vec<Listener>,
    ) -> std::io::Result<Self> {
        let now = sys::monotonic_millis();
        let metrics_listeners = places_for_metrics(&listeners);
        let paths = [&config.health, &config.metrics_path];
        let answers_itself =
            !metrics_listeners.is_empty() || paths.into_iter().any(Option::is_some);
        let event_loop = EventLoop {
            timer: Timer::new(&selector, TIMER)?,
            timer_at: 0,
            identifiers: config.request_ids.then(Identifiers::new),
            config,
            handler,
            selector,
            conns: Table::default(),
            wheel: Wheel::new(now),
            pool: Pool::default(),
            listeners,
            accepting: Accepting::Yes,
            spare: sys::spare_descriptor().ok(),
            ends_listeners: false,
            now,
            events: VecDeque::new(),
            time_is_due: false,
            one_at_a_time: false,
            called: Called::default(),
            ready: Vec::new(),
            excess: VecDeque::new(),
            in_flight: 0,
            dialogues: 0,
            again: Vec::new(),
            scratch: Vec::new(),
            attached: false,
            draining: false,
            drain_until: u64::MAX,
            waits_until: 0,
            wake_leader: false,
            reminders: Vec::new(),
            answers_itself,
            is_answering: false,
            metrics_listeners,
            health: Health::default(),
            compression: Compression::default(),
            for_host: None,
            outbox: Outbox::default(),
        };
        event_loop.watch_listeners()?;
        Ok(event_loop)
    }

    /// Takes in what a poll reported; [`work`](EventLoop::work) handles it.
    pub(crate) fn begin_turn(&mut self, events: &mut Vec<Ready>, now: u64) {
        self.now = now;
        self.waits_until = 0;
        self.wake_leader = false;
        self.events.extend(events.drain(..));
        self.time_is_due = true;
    }

    /// Handles events, then what time has brought. Complete requests are left in `ready`; with `one_at_a_time` the work is
    /// interrupted for the first of them, so that it is run while all of it is in the processor's caches.
    pub(crate) fn work(&mut self, one_at_a_time: bool, attached: bool) -> Progress {
        self.attached = attached;
        self.one_at_a_time = one_at_a_time;
        let progress = self.work_on();
        self.attached = false;
        self.one_at_a_time = false;
        progress
    }

    fn work_on(&mut self) -> Progress {
        while let Some(event) = self.events.pop_front() {
            self.guarded(Token::from_u64(event.token), |this| this.dispatch(&event));
            if !self.excess.is_empty() {
                self.shed_excess();
            }
            if self.has_one() {
                return Progress::Interrupted;
            }
        }
        if std::mem::take(&mut self.time_is_due) {
            for token in std::mem::take(&mut self.again) {
                self.guarded(token, |this| this.proceed(token));
            }
            self.shed_excess();
            self.pass_time();
        }
        Progress::Done
    }

    /// Whether the work is to be interrupted for a request.
    pub(crate) fn has_one(&self) -> bool {
        self.one_at_a_time && (!self.ready.is_empty() || self.host_has_enough())
    }

    /// The leader is about to wait for events, at most for `most` milliseconds. Sets the timer for what is due, and gives what limits
    /// the wait besides; `None` is nothing.
    pub(crate) fn begin_wait(&mut self, most: Option<u64>) -> Option<u64> {
        let now = sys::monotonic_millis();
        let pause = match self.accepting {
            Accepting::PausedUntil(until) => Some(until),
            _ => None,
        };
        let reminder = self.wheel.next_millis(now).map(|millis| now + millis);
        let reminder = [reminder, self.next_grace()].into_iter().flatten().min();
        let again = (!self.again.is_empty() || !self.excess.is_empty()).then_some(0);
        let timed =
            [reminder, pause].into_iter().flatten().min().filter(|due| !self.set_timer(*due, now));
        let untimed = timed.map(|due| due.saturating_sub(now));
        let millis = [most, again, untimed].into_iter().flatten().min();
        self.waits_until =
            reminder.unwrap_or(u64::MAX).min(millis.map_or(u64::MAX, |millis| now + millis));
        millis
    }

    /// As [`begin_wait`](EventLoop::begin_wait), of a wait that only the timer can end in time. Gives whether something is due already.
    pub(crate) fn begin_wait_by_timer(&mut self, most: Option<u64>) -> bool {
        let limit = self.begin_wait(most);
        let now = sys::monotonic_millis();
        limit.is_some_and(|millis| millis == 0 || !self.set_timer(now + millis, now))
    }

    /// Something is due at `millis` of the clock: a wait by the timer alone has to end by then. The host may be stuck before it waits.
    pub(crate) fn bring_timer_forward(&mut self, millis: u64) {
        if self.is_hosted() {
            self.set_timer(millis, self.now);
        }
    }

    /// Has the host take a turn soon, if it does not do so by itself.
    pub(crate) fn end_wait_of_host(&mut self) {
        if self.is_hosted() && !self.host_is_in_turn() {
            self.set_timer(self.now, self.now);
        }
    }

    /// Makes the timer end a wait at `due`; false if it cannot.
    fn set_timer(&mut self, due: u64, now: u64) -> bool {
        if now < self.timer_at && self.timer_at <= due {
            // It is set to an earlier time, after which it is set anew.
            return true;
        }
        let set = self.timer.set(due + sys::CLOCK_STEP_MILLIS).is_ok();
        self.timer_at = if set { due } else { 0 };
        set
    }

    /// Whether the leader waits for events, and longer than it may now.
    pub(crate) fn is_leader_wanted(&self) -> bool {
        self.waits_until > 0 && (self.wake_leader || self.draining)
    }

    /// Gives a request its identifier, if requests get one.
    pub(crate) fn identify(&mut self, token: Token, request: &mut Request) {
        let Some(identifiers) = &mut self.identifiers else { return };
        if let Some(conn) = self.conns.get(token) {
            identifiers.name(request, conn.peer, &self.config.proxies);
        }
    }

    /// Ends a connection: its descriptor is closed and its slot free.
    pub(crate) fn close(&mut self, token: Token) {
        let conn = self.conns.remove(token);
        if let (Some(metrics), Some(conn)) = (&self.config.metrics, &conn) {
            metrics.moved(conn.counted, None);
        }
        if let Some(Phase::Dialogue(line)) = conn.as_ref().map(|conn| &conn.phase) {
            // Its application finds that out when it tries again.
            self.for_host(|host| host.stir(line.number()));
        }
        let socket = conn.and_then(|conn| conn.socket);
        if let Some(socket) = socket.filter(|_| sys::has_forked()) {
            sys::end_for_all(&socket);
        }
        self.connection_closed();
        if self.draining && self.conns.len() == 0 {
            // The drain is over, which the host may not look for soon.
            self.end_wait_of_host();
        }
    }

    /// Does something for one connection. A panic in it is a fault of the engine: it costs that connection only.
    pub(crate) fn guarded(&mut self, token: Token, act: impl FnOnce(&mut Self)) {
        if catch_unwind(AssertUnwindSafe(|| act(self))).is_err() {
            log::error!(
                "the engine panicked over a connection, which is closed; please report this"
            );
            self.close(token);
        }
        if self.config.metrics.is_some() {
            self.count_connection(token);
        }
    }

    /// Counts what the connection is doing now.
    pub(crate) fn count_connection(&mut self, token: Token) {
        let Some(metrics) = &self.config.metrics else { return };
        let Some(conn) = self.conns.get(token) else { return };
        let now = Some(conn.stand());
        if conn.counted != now {
            metrics.moved(std::mem::replace(&mut conn.counted, now), now);
        }
    }

    fn dispatch(&mut self, event: &Ready) {
        match event.token {
            LAST_LISTENER..=FIRST_LISTENER => self.accept(event),
            ORDERS => self.called.orders = true,
            WAKER => self.called.waker = true,
            HOST => self.called.host = true,
            // That it ended the wait was all: time passes in each turn.
            TIMER => {
                self.timer_at = 0;
                self.called.timer = true;
            }
            token => self.on_ready(Token::from_u64(token), event),
        }
    }

    fn pass_time(&mut self) {
        let mut due = std::mem::take(&mut self.reminders);
        let tick = self.wheel.advance(self.now, &mut due);
        for reminder in due.drain(..) {
            let token = Token { index: reminder.index, generation: reminder.generation };
            self.guarded(token, |this| this.look_at_deadline(reminder, tick));
        }
        self.reminders = due;
        self.end_graces();
        self.resume_accepting_in_time();
    }

    /// The place in the list of the listener that an event is about.
    pub(crate) fn listener_index(event: &Ready) -> usize {
        (FIRST_LISTENER - event.token) as usize
    }

    pub(crate) fn watch_listener(&self, index: usize, listener: &Listener) -> std::io::Result<()> {
        self.selector.add(listener, FIRST_LISTENER - index as u64, listener.interest())
    }

    pub(crate) fn watch_listeners(&self) -> std::io::Result<()> {
        for (index, listener) in self.listeners.iter().enumerate() {
            self.watch_listener(index, listener)?;
        }
        Ok(())
    }
}

fn places_for_metrics(listeners: &[Listener]) -> Vec<u16> {
    let places = (0..).zip(listeners);
    places.filter(|(_, listener)| listener.is_for_metrics()).map(|(place, _)| place).collect()
}
