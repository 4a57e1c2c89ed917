//! What the threads of one server share.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::address::Local;
use crate::config::Config;
use crate::control::Orders;
use crate::event_loop::{EventLoop, Job};
use crate::handler::Handler;
use crate::hosted::HostLink;
use crate::own::Health;
use crate::replacement::Reason;
use crate::sched::Sched;
use crate::sys::{Selector, Waker};
use crate::watchdog::Watch;
use crate::witness::Told;

/// So many requests later it is asked again: the supervisor may not have heard.
const REMINDER: u64 = 64;

/// One server, as all its threads see it.
///
/// Lock order: `event_loop` before `sched`. Neither is held while a handler runs or the interpreter is waited for.
pub(crate) struct Shared {
    pub(crate) config: Arc<Config>,
    pub(crate) handler: Arc<dyn Handler>,
    pub(crate) selector: Arc<Selector>,
    pub(crate) waker: Waker,
    pub(crate) locals: Vec<Local>,
    pub(crate) orders: Orders,
    pub(crate) witness: Option<Told>,
    pub(crate) watch: Watch,
    pub(crate) followers: Condvar,
    pub(crate) monitor: Condvar,
    /// The leader naps until the run queue is low.
    pub(crate) low: Condvar,
    pub(crate) health: Health,
    /// The way to the host, if the server has one.
    pub(crate) host: OnceLock<HostLink>,
    /// Requests answered, as far as there is a limit.
    answered: AtomicU64,
    /// A drain was asked for.
    pub(crate) draining: AtomicBool,
    /// When a drain that is put off begins, in milliseconds of the monotonic clock; 0 is none.
    pub(crate) drain_at: AtomicU64,
    /// The drain is to be over soon.
    pub(crate) hurried: AtomicBool,
    /// The drain takes longer than it may: what the host has left is to be ended.
    pub(crate) is_overdue: AtomicBool,
    /// Connections were left then.
    pub(crate) is_cut: AtomicBool,
    event_loop: Mutex<EventLoop>,
    sched: Mutex<Sched<Job>>,
}

impl Shared {
    pub(crate) fn new(
        event_loop: EventLoop,
        sched: Sched<Job>,
        waker: Waker,
        locals: Vec<Local>,
        orders: Orders,
        watch: Watch,
    ) -> Self {
        Shared {
            config: event_loop.config.clone(),
            handler: event_loop.handler.clone(),
            selector: event_loop.selector.clone(),
            waker,
            locals,
            orders,
            witness: event_loop.config.witness.clone().map(Told::new),
            watch,
            followers: Condvar::new(),
            monitor: Condvar::new(),
            low: Condvar::new(),
            health: event_loop.health.clone(),
            host: OnceLock::new(),
            answered: AtomicU64::new(0),
            draining: AtomicBool::new(false),
            drain_at: AtomicU64::new(0),
            hurried: AtomicBool::new(false),
            is_overdue: AtomicBool::new(false),
            is_cut: AtomicBool::new(false),
            event_loop: Mutex::new(event_loop),
            sched: Mutex::new(sched),
        }
    }

    /// The loop's state. A panic of another thread while it had it cost that batch, not the server.
    pub(crate) fn event_loop(&self) -> MutexGuard<'_, EventLoop> {
        self.event_loop.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The run queue and the roles.
    pub(crate) fn sched(&self) -> MutexGuard<'_, Sched<Job>> {
        self.sched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A request was answered. After as many as there may be, another process is asked for, and again from time to time.
    pub(crate) fn count_answer(&self) {
        let Some(most) = self.config.max_requests else { return };
        let over = (self.answered.fetch_add(1, Ordering::Relaxed) + 1).checked_sub(most);
        if over.is_some_and(|over| over.is_multiple_of(REMINDER))
            && let Some(replacement) = &self.config.replacement
        {
            replacement.ask(Reason::Requests);
        }
    }

    /// Begins a drain: from any thread, any number of times.
    pub(crate) fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
        self.waker.wake();
    }

    /// Begins a drain that is cut soon, or cuts one short that has begun.
    pub(crate) fn stop(&self) {
        self.hurried.store(true, Ordering::Relaxed);
        self.drain();
    }

    /// Counts what runs and waits.
    #[inline]
    pub(crate) fn count_load(&self, sched: &Sched<Job>) {
        if let Some(metrics) = &self.config.metrics {
            metrics.set_threads(sched.busy(), self.config.threads.max(1));
            metrics.set_queued(sched.load().0);
        }
    }

    /// The logs were renamed.
    pub(crate) fn reopen_logs(&self) {
        if let Some(access) = &self.config.access {
            access.reopen();
        }
        self.handler.reopen_logs();
    }

    /// Has the stacks of all threads printed, with the requests they serve: from any thread, even if all others are busy.
    pub(crate) fn request_stacks(&self) {
        self.watch.request_stacks();
    }

    /// Tells the host that there is something for it.
    pub(crate) fn ring(&self) {
        if let Some(host) = self.host.get() {
            host.bell.ring();
        }
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Whether one thread does everything.
    pub(crate) fn single(&self) -> bool {
        self.config.threads <= 1
    }
}
