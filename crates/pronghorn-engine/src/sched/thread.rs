//! One thread of the engine: its roles one after the other, and running a request.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use pronghorn_proto::encode::ResponseFields;

use super::state::{Follow, Sched, ThreadNumber, Wake};
use crate::conn::{Output, is_late, shed_late};
use crate::event_loop::{EventLoop, Job};
use crate::exchange::Exchange;
use crate::handler::Handler;
use crate::shared::Shared;
use crate::sys::{self, Ready};
use crate::untold::Untold;
use crate::watchdog::Slot;

/// The thread that runs the server leads first.
pub(crate) const FIRST: ThreadNumber = 0;

/// What Python and deep call chains expect of a stack; memory is taken only as it is used.
const STACK: usize = 8 << 20;

/// How long the end of the server waits for threads that have nothing left to do but to end.
pub(crate) const LAST_WORDS: Duration = Duration::from_secs(2);

/// What a thread of the engine has of its own.
pub(crate) struct EngineThread {
    pub(crate) shared: Arc<Shared>,
    pub(crate) number: ThreadNumber,
    /// What it runs, for the watchdog to see.
    pub(crate) slot: Arc<Slot>,
    pub(super) attached: bool,
    /// What the latest poll reported.
    pub(super) events: Vec<Ready>,
    /// Requests that became ready, on their way to the run queue.
    pub(super) jobs: Vec<Job>,
    /// The head of the response being made, reused.
    pub(crate) head: Vec<u8>,
    /// Its fields, reused.
    pub(crate) fields: ResponseFields,
    /// When this thread last polled and last swept the queue, as leader.
    pub(super) polled_at: u64,
    pub(super) swept_at: u64,
    /// As leader: requests that become ready are run inline.
    pub(super) runs_inline: bool,
    /// As leader: the latest poll came late, so clients may have given up.
    pub(super) stale: bool,
    /// As leader: what the latest poll reported is still to be handed to the loop.
    pub(super) has_polled: bool,
    /// As leader: the latest poll reported much.
    pub(super) is_busy: bool,
    /// As leader: requests were left in the run queue.
    pub(super) is_queued: bool,
    /// As leader: what follows the work on a poll's events is still to do.
    pub(super) turn_is_open: bool,
    /// As leader for a host: what that wants to be told of was reported.
    pub(crate) host_is_called: bool,
}

impl EngineThread {
    pub(crate) fn new(shared: Arc<Shared>, number: ThreadNumber) -> Self {
        shared.handler.thread_start();
        EngineThread {
            slot: shared.watch.join(),
            shared,
            number,
            attached: false,
            events: Vec::new(),
            jobs: Vec::new(),
            head: Vec::new(),
            fields: ResponseFields::default(),
            polled_at: 0,
            swept_at: 0,
            runs_inline: true,
            stale: false,
            has_polled: false,
            is_busy: false,
            is_queued: false,
            turn_is_open: false,
            host_is_called: false,
        }
    }

    /// Leads until the server is over, and until the other threads are.
    pub(crate) fn run_as_leader(mut self) {
        self.take_roles(Follow::Lead);
        self.detach();
        let shared = self.shared.clone();
        let others = |sched: &mut Sched<Job>| sched.threads() > 1;
        let ended = shared.followers.wait_timeout_while(shared.sched(), LAST_WORDS, others);
        drop(ended.unwrap_or_else(PoisonError::into_inner));
    }

    fn run_as_follower(mut self) {
        let (role, wake) = self.shared.sched().started(self.number);
        self.wake(wake);
        self.take_roles(role);
    }

    fn take_roles(&mut self, first: Follow<Job>) {
        let handler = self.shared.handler.clone();
        let mut role = first;
        loop {
            if matches!(role, Follow::Lead) {
                self.count_promotion();
            }
            role = match role {
                Follow::Lead => match self.lead(&*handler) {
                    Some(role) => role,
                    None => return,
                },
                Follow::Stop => return,
                other => self.follow(&*handler, other),
            };
        }
    }

    /// Every leader but the first was promoted.
    fn count_promotion(&mut self) {
        let is_first = self.polled_at == 0 && self.number == FIRST;
        if let Some(metrics) = self.shared.config.metrics.as_ref().filter(|_| !is_first) {
            metrics.promoted();
        }
    }

    /// Runs one request as a follower: the handler answers, then the connection goes back to the loop.
    pub(super) fn run(&mut self, handler: &dyn Handler, job: Job) {
        let (job, output) = self.serve(handler, job);
        self.change_loop(|event_loop| event_loop.put_back(job, output));
    }

    /// Has the handler answer one request, unless it has waited too long; gives it back with what the socket did not take.
    pub(super) fn serve(&mut self, handler: &dyn Handler, mut job: Job) -> (Job, Output) {
        let now = sys::monotonic_millis();
        if is_late(&self.shared.config, &job, now) {
            let output = shed_late(&self.shared.config, &mut job, self.shared.is_draining());
            return (job, output);
        }
        self.slot.begin(&job, now);
        self.shared.watch.begun();
        self.attach();
        if self.shared.config.timed {
            job.request.timing.started = sys::monotonic_micros();
        }
        let mut exchange = Exchange::new(self, job);
        // It may have waited for the interpreter for too long.
        if !exchange.is_overdue() {
            handle(handler, &mut exchange);
        }
        let ended = exchange.end();
        if self.slot.end() {
            handler.forget_interrupt();
        }
        ended
    }

    /// Changes connections from outside the leader's work, and passes on what came of it.
    pub(super) fn change_loop(&mut self, change: impl FnOnce(&mut EventLoop)) {
        let mut event_loop = self.shared.event_loop();
        change(&mut event_loop);
        std::mem::swap(&mut event_loop.ready, &mut self.jobs);
        let wake_leader = event_loop.is_leader_wanted();
        drop(event_loop);
        if wake_leader {
            self.shared.waker.wake();
        }
        self.push_jobs();
    }

    /// Moves what became ready to the run queue.
    pub(super) fn push_jobs(&mut self) {
        if !self.jobs.is_empty() {
            let mut sched = self.shared.sched();
            let wake = sched.push(self.jobs.drain(..));
            self.shared.count_load(&sched);
            drop(sched);
            self.wake(wake);
        }
    }

    /// Lets another thread lead: this one is about to wait inside a request. False when no thread is to be had: it goes on leading.
    pub(crate) fn give_leadership(&self) -> bool {
        let wake = self.shared.sched().promote(self.number, None);
        self.wake(wake) || !self.leads_still()
    }

    /// Waits for the client, of a request that runs outside the leader, as `wait` does: others may run instead meanwhile.
    pub(crate) fn wait_apart<T>(&self, wait: impl FnOnce() -> T) -> T {
        let mut sched = self.shared.sched();
        let (apart, wake) = sched.begin_client_wait();
        self.shared.count_load(&sched);
        drop(sched);
        self.wake(wake);
        let waited = wait();
        if apart {
            let mut sched = self.shared.sched();
            let wake = sched.end_client_wait();
            self.shared.count_load(&sched);
            drop(sched);
            self.wake(wake);
        }
        waited
    }

    /// Whether this thread, which waits inside a request, is the one to see to events. Leadership that nobody took comes back to it.
    pub(crate) fn leads_still(&self) -> bool {
        self.shared.single() || self.shared.sched().keep_leading(self.number)
    }

    pub(crate) fn is_attached(&self) -> bool {
        self.attached
    }

    /// May wait for the interpreter.
    pub(crate) fn attach(&mut self) {
        if !self.attached {
            self.wait_for_interpreter();
            self.attached = true;
        }
    }

    fn wait_for_interpreter(&self) {
        match &self.shared.config.metrics {
            None => self.shared.handler.attach(),
            Some(metrics) => {
                let began = sys::monotonic_micros();
                self.shared.handler.attach();
                metrics.interpreter_waited(began);
            }
        }
    }

    pub(crate) fn detach(&mut self) {
        if self.attached {
            self.attached = false;
            self.shared.handler.detach();
        }
    }

    /// Carries out what a transition asked for; false if the thread it wanted could not be started.
    pub(crate) fn wake(&self, wake: Wake) -> bool {
        carry_out(&self.shared, wake)
    }
}

impl Drop for EngineThread {
    fn drop(&mut self) {
        self.detach();
        self.shared.watch.leave(&self.slot);
        self.shared.handler.thread_stop();
        self.shared.sched().thread_ended();
        self.shared.followers.notify_all();
    }
}

fn handle(handler: &dyn Handler, exchange: &mut Exchange<'_>) {
    if catch_unwind(AssertUnwindSafe(|| handler.handle(exchange))).is_err() {
        log::error!("a handler panicked: its request is failed, the server goes on");
    }
}

/// Does what a transition asked for; false if the thread it wanted could not be started.
pub(super) fn carry_out(shared: &Arc<Shared>, wake: Wake) -> bool {
    match wake {
        Wake::Nobody => {}
        Wake::Follower => shared.followers.notify_one(),
        Wake::NewThread => {
            if let Err(error) = start_follower(shared) {
                if FAILED_STARTS.add_one().is_some() {
                    log::error!(
                        "a thread could not be started: {error}; requests go on with the threads there are"
                    );
                }
                go_on_without(shared);
                return false;
            }
        }
    }
    true
}

/// Where there is no room for threads it comes up with every request: a line a second is enough.
static FAILED_STARTS: Untold = Untold::new(1000);

/// Starts a thread, which takes the role it is wanted for.
fn start_follower(shared: &Arc<Shared>) -> std::io::Result<()> {
    static NEXT: AtomicU32 = AtomicU32::new(FIRST + 1);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let theirs = shared.clone();
    let name = format!("pronghorn-{number}");
    let builder = std::thread::Builder::new().name(name).stack_size(STACK);
    builder.spawn(move || EngineThread::new(theirs, number).run_as_follower()).map(drop)
}

fn go_on_without(shared: &Shared) {
    let wake = shared.sched().thread_failed();
    if wake == Wake::Follower {
        shared.followers.notify_one();
    }
    // The leader may be the one to run what is queued now.
    shared.waker.wake();
}
