//! Who leads, who runs, who waits: the scheduling state and its transitions, without threads.
//!
//! Everything here happens under one lock and takes a few instructions. A transition that needs another thread says so
//! with a [`Wake`], which the caller carries out after it has let go of the lock.

use std::collections::VecDeque;

/// An engine thread. Numbers are never reused.
pub(crate) type ThreadNumber = u32;

/// For each request that may run at once, so many more may wait for their clients.
const CLIENT_WAITS: usize = 32;

/// With so many requests in the queue the leader may nap, until this part of them is left.
const NAP_QUEUE: usize = 4;
const NAP_SHARE: usize = 8;

/// What a transition asks of the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(test, derive(Hash, PartialOrd, Ord))]
#[must_use]
pub(crate) enum Wake {
    /// Nothing.
    Nobody,
    /// Notify one waiting follower.
    Follower,
    /// Start a thread.
    NewThread,
}

/// What the leader does next.
#[derive(Debug)]
pub(crate) enum Lead<J> {
    /// Run this request inline.
    Run(J),
    /// Poll; it may block for events.
    Poll,
    /// Poll without blocking: requests are left, but events were not looked at for a while.
    Glance,
    /// Leadership went to another thread: go on as a follower.
    Demoted,
    /// The server is over.
    Stop,
}

/// What a follower does next.
#[derive(Debug)]
pub(crate) enum Follow<J> {
    /// Run this request.
    Run(J),
    /// Take the lead.
    Lead,
    /// Attach, then ask with [`Sched::standby_attached`].
    Attach,
    /// Wait until notified (it is counted as waiting already).
    Wait,
    /// The server is over.
    Stop,
}

/// The run queue and the roles of the threads.
#[derive(Debug)]
#[cfg_attr(test, derive(Clone, PartialEq, Eq, Hash))]
pub(crate) struct Sched<J> {
    queue: VecDeque<J>,
    leader: Option<ThreadNumber>,
    /// Odd while the leader is in a call; every call has a number of its own.
    call: u64,
    /// How often the leader has polled.
    polls: u64,
    glance: bool,
    /// Requests that run on threads other than the leader, without those that wait for their client.
    outside: usize,
    /// Requests that wait for their client inside a call.
    client_waits: usize,
    /// Followers woken for the queue that have not taken a request yet, and those of them not awake yet.
    standby: usize,
    unclaimed: usize,
    waiting: usize,
    /// Threads on their way to [`claim`](Sched::claim): notified, or asked for and not begun yet.
    notified: usize,
    starting: usize,
    threads: usize,
    most: usize,
    stopping: bool,
    monitor_asleep: bool,
    /// The leader naps until the queue is no longer than this.
    nap: Option<usize>,
}

impl<J> Sched<J> {
    /// The state of a server that may run `most` requests at once, led by thread `leader`.
    pub(crate) fn new(most: usize, leader: ThreadNumber) -> Self {
        Sched {
            queue: VecDeque::new(),
            leader: Some(leader),
            call: 0,
            polls: 0,
            glance: false,
            outside: 0,
            client_waits: 0,
            standby: 0,
            unclaimed: 0,
            waiting: 0,
            notified: 0,
            starting: 0,
            threads: 1,
            most,
            stopping: false,
            monitor_asleep: true,
            nap: None,
        }
    }

    /// Adds complete requests to the run queue. Where the leader will not run them itself, someone is woken.
    pub(crate) fn push(&mut self, jobs: impl IntoIterator<Item = J>) -> Wake {
        for job in jobs {
            self.queue.push_back(job);
        }
        if self.inline() { Wake::Nobody } else { self.wake_standby() }
    }

    /// The leader asks what to do; `finished` when it comes from a call.
    pub(crate) fn lead(&mut self, me: ThreadNumber, finished: bool) -> Lead<J> {
        if self.leader != Some(me) {
            return Lead::Demoted;
        }
        if finished {
            self.call += 1;
        }
        if self.stopping {
            return Lead::Stop;
        }
        if self.inline() && !self.queue.is_empty() {
            if std::mem::take(&mut self.glance) {
                self.polls += 1;
                return Lead::Glance;
            }
            if let Some(job) = self.queue.pop_front() {
                self.call += 1;
                return Lead::Run(job);
            }
        }
        self.polls += 1;
        Lead::Poll
    }

    /// A follower asks what to do; `finished` when it comes from a request. It is attached: a request it gets it runs at once.
    pub(crate) fn follow(&mut self, me: ThreadNumber, finished: bool) -> (Follow<J>, Wake) {
        if finished {
            self.outside -= 1;
        }
        if self.stopping || self.leader.is_none() {
            return self.claim(me);
        }
        if self.outside < self.most
            && let Some(job) = self.queue.pop_front()
        {
            self.outside += 1;
            return (Follow::Run(job), self.wake_standby());
        }
        self.waiting += 1;
        (Follow::Wait, Wake::Nobody)
    }

    /// A standby is attached at last: as [`follow`](Sched::follow), and it is no standby any more.
    pub(crate) fn standby_attached(&mut self, me: ThreadNumber) -> (Follow<J>, Wake) {
        self.standby -= 1;
        self.follow(me, false)
    }

    /// A waiting follower looks whether it was notified. `None`: it was not.
    pub(crate) fn notified(&mut self, me: ThreadNumber) -> Option<(Follow<J>, Wake)> {
        if self.notified == 0 && !self.stopping {
            return None;
        }
        self.notified = self.notified.saturating_sub(1);
        Some(self.claim(me))
    }

    /// A thread that was just started takes the role it was wanted for.
    pub(crate) fn started(&mut self, me: ThreadNumber) -> (Follow<J>, Wake) {
        self.starting -= 1;
        self.claim(me)
    }

    /// The leader, about to poll, naps instead while others have enough to do; false if they have not.
    pub(crate) fn begin_nap(&mut self) -> bool {
        let enough = !self.inline() && self.queue.len() >= NAP_QUEUE;
        self.nap = enough.then_some(self.queue.len() / NAP_SHARE);
        enough
    }

    pub(crate) fn naps(&self) -> bool {
        self.nap.is_some() && !self.stopping
    }

    pub(crate) fn end_nap(&mut self) {
        self.nap = None;
    }

    /// Whether the leader's nap ends now, as the queue gets short.
    pub(crate) fn ends_nap(&mut self) -> bool {
        let ends = self.nap.is_some_and(|length| self.queue.len() <= length);
        if ends {
            self.nap = None;
        }
        ends
    }

    /// Takes leadership from `from`, which stays in its call, if it still leads and (where given) still is in call `call`.
    pub(crate) fn promote(&mut self, from: ThreadNumber, call: Option<u64>) -> Wake {
        if self.leader != Some(from) || call.is_some_and(|call| call != self.call) || self.stopping
        {
            return Wake::Nobody;
        }
        self.leader = None;
        self.call += 1;
        self.outside += 1;
        self.wake_one()
    }

    /// A thread that waits inside its call asks whether it leads: leadership it gave away and nobody took comes back to it.
    pub(crate) fn keep_leading(&mut self, me: ThreadNumber) -> bool {
        if self.leader.is_none() {
            self.leader = Some(me);
            self.call += 1;
            self.outside -= 1;
        }
        self.leader == Some(me)
    }

    /// A request that runs outside the leader begins to wait for its client: others may run meanwhile. False if it goes on being
    /// counted, as too many wait already or nobody else would lead.
    pub(crate) fn begin_client_wait(&mut self) -> (bool, Wake) {
        let leads = self.leader.is_some() || self.notified + self.starting > 0;
        if !leads || self.client_waits >= self.most * CLIENT_WAITS {
            return (false, Wake::Nobody);
        }
        self.client_waits += 1;
        self.outside -= 1;
        (true, self.wake_standby())
    }

    /// Its wait is over: it runs, even if as many as may run do. What the leader was to run inline is for others now.
    pub(crate) fn end_client_wait(&mut self) -> Wake {
        self.client_waits -= 1;
        self.outside += 1;
        self.wake_standby()
    }

    /// A thread could not be started: what it was for falls to a waiting one, or else to those that run. The caller also wakes the
    /// leader, which may be the one to run what is queued now.
    pub(crate) fn thread_failed(&mut self) -> Wake {
        self.threads -= 1;
        self.starting -= 1;
        if self.waiting > 0 {
            return self.wake_one();
        }
        if self.unclaimed > 0 && self.unclaimed + self.vacancy() > self.notified + self.starting {
            self.unclaimed -= 1;
            self.standby -= 1;
        }
        Wake::Nobody
    }

    /// The leader's present call, if it is in one, and how often it has polled: what the monitor compares.
    pub(crate) fn leader_call(&self) -> (Option<ThreadNumber>, Option<u64>, u64) {
        (self.leader, (self.call % 2 == 1).then_some(self.call), self.polls)
    }

    /// Asks the leader to look at events before it runs the next request.
    pub(crate) fn ask_glance(&mut self) {
        self.glance = true;
    }

    /// The monitor sleeps until the leader begins a call.
    pub(crate) fn monitor_sleeps(&mut self) {
        self.monitor_asleep = true;
    }

    pub(crate) fn monitor_is_asleep(&self) -> bool {
        self.monitor_asleep
    }

    /// Whether the monitor has to be woken; if so, counts it awake.
    pub(crate) fn wake_monitor(&mut self) -> bool {
        std::mem::replace(&mut self.monitor_asleep, false)
    }

    /// A thread is over.
    pub(crate) fn thread_ended(&mut self) {
        self.threads -= 1;
    }

    /// How many threads there are, those on their way included.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Ends every role: each thread learns it when it asks next.
    pub(crate) fn stop(&mut self) {
        self.stopping = true;
    }

    pub(crate) fn stopping(&self) -> bool {
        self.stopping
    }

    /// Requests queued, and requests running or waiting for their clients outside the leader.
    pub(crate) fn load(&self) -> (usize, usize) {
        (self.queue.len(), self.outside + self.client_waits)
    }

    /// Requests that run, without those that wait for their client.
    pub(crate) fn busy(&self) -> usize {
        self.outside + (self.call % 2) as usize
    }

    /// The oldest request of the queue.
    pub(crate) fn oldest(&self) -> Option<&J> {
        self.queue.front()
    }

    /// Takes out of the queue what `gone` says is not to be run.
    pub(crate) fn sweep(&mut self, mut gone: impl FnMut(&J) -> bool) -> Vec<J> {
        let (dropped, kept) =
            std::mem::take(&mut self.queue).into_iter().partition(|job| gone(job));
        self.queue = kept;
        Vec::from_iter::<VecDeque<J>>(dropped)
    }

    /// Whether the leader runs requests itself: nothing runs, or is about to run, outside it.
    pub(crate) fn inline(&self) -> bool {
        self.outside == 0 && self.standby == 0
    }

    /// Gives a thread on its way a role: the leader's if nobody leads, else a standby's if one is wanted.
    fn claim(&mut self, me: ThreadNumber) -> (Follow<J>, Wake) {
        if self.stopping {
            return (Follow::Stop, Wake::Nobody);
        }
        if self.leader.is_none() {
            self.leader = Some(me);
            return (Follow::Lead, self.wake_for_rest());
        }
        if self.unclaimed > 0 {
            self.unclaimed -= 1;
            return (Follow::Attach, Wake::Nobody);
        }
        self.waiting += 1;
        (Follow::Wait, Wake::Nobody)
    }

    /// What the old leader left in the queue is for others now, and so is what the new one was woken for.
    fn wake_for_rest(&mut self) -> Wake {
        if self.unclaimed > 0 {
            self.wake_one()
        } else if self.inline() {
            Wake::Nobody
        } else {
            self.wake_standby()
        }
    }

    fn wake_standby(&mut self) -> Wake {
        // One at a time: it waits for the interpreter, so the moment the running request blocks it takes the next.
        if self.queue.is_empty() || self.standby > 0 || self.outside >= self.most || self.stopping {
            return Wake::Nobody;
        }
        self.standby += 1;
        self.unclaimed += 1;
        self.wake_one()
    }

    /// Gets a thread for a role just made, unless one is on its way that found its role taken.
    fn wake_one(&mut self) -> Wake {
        if self.notified + self.starting >= self.unclaimed + self.vacancy() {
            return Wake::Nobody;
        }
        if self.waiting > 0 {
            self.waiting -= 1;
            self.notified += 1;
            return Wake::Follower;
        }
        self.threads += 1;
        self.starting += 1;
        Wake::NewThread
    }

    /// How many leaders are missing.
    fn vacancy(&self) -> usize {
        usize::from(self.leader.is_none())
    }
}

#[cfg(test)]
mod tests;
