//! The stand-in: sees to events while the host's thread is stuck in its application, as far as they need no application.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use super::blocked::Blocked;
use crate::dialogue::Summary;
use crate::event_loop::HOST;
use crate::shared::Shared;
use crate::sys::{self, Bell, Interest, Ready};

/// After this many looks at nothing it sleeps until something happens.
const IDLE_LOOKS: u32 = 50;

/// Events that the host leaves alone for so many looks are seen to. Fewer, and a host that is only busy would be disturbed.
const PATIENCE: u32 = 4;

/// How long it waits at the most.
const LONGEST_WAIT: Duration = Duration::from_secs(3600);

/// How long a host that waits for events may take to get up.
const HOST_TAKES: Duration = Duration::from_millis(1);

/// How much stack it gets.
const STACK: usize = 256 << 10;

/// The host's end of it.
pub(super) struct StandIn {
    post: Arc<Post>,
    thread: JoinHandle<()>,
}

/// What both share.
struct Post {
    /// How often the host has come for events.
    turns: AtomicU64,
    /// The stand-in sees to events.
    is_manned: AtomicBool,
    is_over: AtomicBool,
    nap: Arc<Nap>,
}

/// The waits of the stand-in, and what ends them.
pub(crate) struct Nap {
    is_asleep: AtomicBool,
    call: Bell,
}

impl Nap {
    /// There is something that it has to look at, if the host does not.
    pub(crate) fn rouse(&self) {
        if self.is_asleep.load(Ordering::SeqCst) {
            self.call.ring();
        }
    }
}

impl StandIn {
    pub(super) fn start(shared: &Arc<Shared>) -> io::Result<Self> {
        let post = Arc::new(Post {
            turns: AtomicU64::new(0),
            is_manned: AtomicBool::new(false),
            is_over: AtomicBool::new(false),
            nap: Arc::new(Nap { is_asleep: AtomicBool::new(false), call: Bell::new()? }),
        });
        shared.event_loop().outbox.rouse(post.nap.clone());
        let (theirs, shared) = (post.clone(), shared.clone());
        let builder = std::thread::Builder::new().name("pronghorn-stand-in".to_owned());
        let thread = builder.stack_size(STACK).spawn(move || theirs.keep(&shared))?;
        Ok(StandIn { post, thread })
    }

    /// The host sees to events itself.
    #[inline]
    pub(super) fn host_is_here(&self) {
        self.post.turns.fetch_add(1, Ordering::Release);
        if self.post.is_manned.load(Ordering::Acquire) {
            self.post.nap.call.ring();
        }
    }

    pub(super) fn dismiss(self) {
        self.post.is_over.store(true, Ordering::Release);
        self.post.nap.call.ring();
        // A panic of it has been reported by itself.
        let _ = self.thread.join();
    }
}

impl Post {
    fn keep(&self, shared: &Arc<Shared>) {
        let pause = shared.config.promote_after.max(Duration::from_micros(100));
        let mut idle_looks = IDLE_LOOKS;
        let (mut turns, mut waiting_looks) = (self.turns(), 0);
        while !self.is_over() {
            if idle_looks >= IDLE_LOOKS {
                idle_looks = 0;
                self.wait_for_events(shared, LONGEST_WAIT);
            }
            std::thread::sleep(pause);
            let before = std::mem::replace(&mut turns, self.turns());
            if before != turns {
                idle_looks = 0;
            } else if has_events(shared) || has_output(shared) {
                idle_looks = 0;
                waiting_looks += 1;
                if waiting_looks >= PATIENCE {
                    self.stand_in(shared, turns);
                } else {
                    continue;
                }
            } else {
                idle_looks += 1;
            }
            waiting_looks = 0;
        }
    }

    /// Sees to events until the host does.
    fn stand_in(&self, shared: &Arc<Shared>, turns: u64) {
        self.is_manned.store(true, Ordering::Release);
        // Readable all the time, perhaps, and nobody's business here.
        let also = shared.host.get().and_then(|host| host.also.get());
        let was_watched = also.is_some_and(|fd| shared.selector.remove(fd).is_ok());
        let (mut events, mut blocked) = (Vec::new(), Blocked::new());
        while self.turns() == turns && !self.is_over() {
            let Turn { mut limit, left_work, is_late, given_up } = take_turn(shared, &mut events);
            blocked.look(shared, is_late, &given_up);
            limit = blocked.wait(shared).map_or(limit, |due| limit.min(due));
            if left_work {
                // The host may wait for the very events that were taken. Woken, it may find nothing again, so this is repeated.
                shared.waker.wake();
                self.wait_to_be_called();
            }
            self.wait_for_events(shared, limit);
        }
        if let Some(fd) = also.filter(|_| was_watched)
            && let Err(error) = shared.selector.add(fd, HOST, Interest::Listen)
        {
            log::error!("the descriptors of the application cannot be watched any more: {error}");
        }
        self.is_manned.store(false, Ordering::Release);
        self.nap.call.clear();
    }

    /// Waits for events, for output that is kept, or to be called.
    fn wait_for_events(&self, shared: &Shared, limit: Duration) {
        let Nap { is_asleep, call } = &*self.nap;
        is_asleep.store(true, Ordering::SeqCst);
        // Output that comes later rouses it.
        if !has_output(shared) {
            let waited = sys::wait_ready(call, false, Some(shared.selector.as_fd()), limit);
            if waited.is_err() {
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        is_asleep.store(false, Ordering::SeqCst);
        call.clear();
    }

    /// Leaves events to the host for a moment.
    fn wait_to_be_called(&self) {
        let _ = sys::wait_ready(&self.nap.call, false, None, HOST_TAKES);
    }

    fn turns(&self) -> u64 {
        self.turns.load(Ordering::Acquire)
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }
}

/// What came of a turn.
struct Turn {
    /// How long the next wait may be.
    limit: Duration,
    /// Something waits for the host.
    left_work: bool,
    /// Among that, a request that takes long.
    is_late: bool,
    /// Requests that were answered in the host's place.
    given_up: Vec<Arc<Summary>>,
}

fn has_events(shared: &Shared) -> bool {
    sys::wait_ready(&*shared.selector, false, None, Duration::ZERO).unwrap_or(false)
}

/// Whether something waits to be sent that the host kept for the end of its turn.
fn has_output(shared: &Shared) -> bool {
    !shared.event_loop().outbox.is_empty()
}

/// One turn: what is found for the host is left to it.
fn take_turn(shared: &Shared, events: &mut Vec<Ready>) -> Turn {
    if let Err(error) = shared.selector.wait(events, Some(0)) {
        log::error!("waiting for events failed: {error}; trying again");
    }
    let mut event_loop = shared.event_loop();
    event_loop.send_kept();
    event_loop.begin_turn(events, sys::monotonic_millis());
    event_loop.work(false, false);
    // Sets the timer for what is due next.
    let limit = event_loop.begin_wait(None).map_or(LONGEST_WAIT, Duration::from_millis);
    let rings = event_loop.rings_bell();
    let left_work = event_loop.host_has_work() || event_loop.called.needs_leader();
    let is_late = event_loop.host_is_late();
    let given_up = event_loop.take_given_up();
    drop(event_loop);
    if rings {
        shared.ring();
    }
    Turn { limit, left_work, is_late, given_up }
}
