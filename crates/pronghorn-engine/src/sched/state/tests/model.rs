//! The model: where every thread stands, and every step that can come next.

mod invariants;

use super::super::*;

/// Whether a request's call ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Job {
    Ends,
    Hangs,
}

/// Where a thread stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Place {
    Starts,
    AsksToLead {
        finished: bool,
    },
    Polls,
    Glances,
    /// In a call it began as leader.
    Calls(Job),
    /// In such a call, doing the others' input and output while it waits for its client.
    Pumps(Job),
    AsksToFollow {
        finished: bool,
    },
    /// In a call it began as follower.
    Runs(Job),
    /// In such a call, waiting for its client apart from those that run.
    WaitsApart(Job),
    Attaches,
    /// Is about to look whether it was notified.
    Looks,
    Sleeps,
}

/// What a thread has yet to do for its latest transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Owes {
    Nothing,
    Wake(Wake),
    /// It gave leadership away: without an heir it takes it back.
    Heir(Wake),
    WakeOfMonitor,
    WakeOfAll,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Thread {
    leads: bool,
    place: Place,
    owes: Owes,
}

/// How often what need not happen may happen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Budget {
    pub(super) brief: u8,
    pub(super) hanging: u8,
    pub(super) failed_starts: u8,
    pub(super) spurious: u8,
    pub(super) waits_for_client: u8,
    pub(super) waits_apart: u8,
    pub(super) sweeps: u8,
    pub(super) glances: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Model {
    sched: Sched<Job>,
    threads: Vec<Thread>,
    monitor: Owes,
    left: Budget,
    /// How often a request may wait apart in all: by so many more may run when it goes on.
    apart: u8,
    done: u8,
    swept: u8,
}

/// What can happen next.
impl Model {
    pub(super) fn new(most: usize, left: Budget) -> Self {
        let place = Place::AsksToLead { finished: false };
        let first = Thread { leads: true, place, owes: Owes::Nothing };
        Model {
            sched: Sched::new(most, 0),
            threads: vec![first],
            monitor: Owes::Nothing,
            left,
            apart: left.waits_apart,
            done: 0,
            swept: 0,
        }
    }

    pub(super) fn steps(&self) -> Vec<Model> {
        let mut steps = Vec::new();
        self.monitor_steps(&mut steps);
        for who in 0..self.threads.len() {
            match self.threads[who].owes {
                Owes::Nothing => self.thread_steps(who, &mut steps),
                owes => self.pay(owes, Some(who), &mut steps),
            }
        }
        steps.into_iter().map(Model::canonical).collect()
    }

    /// A step that changes this state by `change`.
    fn step(&self, steps: &mut Vec<Model>, change: impl FnOnce(&mut Model)) {
        let mut next = self.clone();
        change(&mut next);
        steps.push(next);
    }

    fn monitor_steps(&self, steps: &mut Vec<Model>) {
        if self.monitor != Owes::Nothing {
            return self.pay(self.monitor, None, steps);
        }
        if self.sched.monitor_is_asleep() || self.sched.stopping() {
            return;
        }
        let (leader, call, _) = self.sched.leader_call();
        match (leader, call) {
            (Some(leader), Some(call)) => {
                self.step(steps, |m| m.monitor = Owes::Wake(m.sched.promote(leader, Some(call))));
                if self.left.glances > 0 {
                    self.step(steps, |m| {
                        m.left.glances -= 1;
                        m.sched.ask_glance();
                    });
                }
            }
            _ => self.step(steps, |m| m.sched.monitor_sleeps()),
        }
    }

    /// The thread `who` (or the monitor) does what its transition asked for.
    fn pay(&self, owes: Owes, who: Option<usize>, steps: &mut Vec<Model>) {
        let paid = |m: &mut Model| match who {
            Some(who) => m.threads[who].owes = Owes::Nothing,
            None => m.monitor = Owes::Nothing,
        };
        match owes {
            Owes::Nothing | Owes::Wake(Wake::Nobody) | Owes::Heir(Wake::Nobody) => {
                self.step(steps, paid)
            }
            // The monitor is counted awake already.
            Owes::WakeOfMonitor => self.step(steps, paid),
            Owes::WakeOfAll => self.step(steps, |m| {
                paid(m);
                m.notify_all();
            }),
            Owes::Wake(Wake::Follower) | Owes::Heir(Wake::Follower) => self.notify(paid, steps),
            Owes::Wake(Wake::NewThread) | Owes::Heir(Wake::NewThread) => {
                self.step(steps, |m| {
                    paid(m);
                    m.threads.push(Thread {
                        leads: false,
                        place: Place::Starts,
                        owes: Owes::Nothing,
                    });
                });
                self.fail_to_start(owes, who, paid, steps);
            }
        }
    }

    fn fail_to_start(
        &self,
        owes: Owes,
        who: Option<usize>,
        paid: impl Fn(&mut Model),
        steps: &mut Vec<Model>,
    ) {
        if self.left.failed_starts == 0 {
            return;
        }
        self.step(steps, |m| {
            m.left.failed_starts -= 1;
            paid(m);
            let wake = m.sched.thread_failed();
            match who {
                Some(who) => m.threads[who].owes = Owes::Wake(wake),
                None => m.monitor = Owes::Wake(wake),
            }
            m.wake_leader();
            if let (Owes::Heir(_), Some(who)) = (owes, who)
                && m.sched.keep_leading(who as ThreadNumber)
                && let Place::Calls(job) = m.threads[who].place
            {
                m.threads[who].place = Place::Pumps(job);
            }
        });
    }

    /// Notifies one of those that sleep; who has yet to look needs no notification.
    fn notify(&self, paid: impl Fn(&mut Model), steps: &mut Vec<Model>) {
        let sleepers = (0..self.threads.len()).filter(|&t| self.threads[t].place == Place::Sleeps);
        let mut nobody = true;
        for sleeper in sleepers {
            nobody = false;
            self.step(steps, |m| {
                paid(m);
                m.threads[sleeper].place = Place::Looks;
            });
        }
        if nobody {
            self.step(steps, paid);
        }
    }

    fn notify_all(&mut self) {
        for thread in self.threads.iter_mut().filter(|t| t.place == Place::Sleeps) {
            thread.place = Place::Looks;
        }
    }

    fn wake_leader(&mut self) {
        for thread in self.threads.iter_mut().filter(|t| t.place == Place::Polls) {
            thread.place = Place::AsksToLead { finished: false };
        }
    }

    fn thread_steps(&self, who: usize, steps: &mut Vec<Model>) {
        let me = who as ThreadNumber;
        match self.threads[who].place {
            Place::Starts => self.step(steps, |m| {
                let (order, wake) = m.sched.started(me);
                m.obey(who, order, wake);
            }),
            Place::AsksToLead { finished } => self.step(steps, |m| m.ask_to_lead(who, finished)),
            Place::AsksToFollow { finished } => self.step(steps, |m| {
                let (order, wake) = m.sched.follow(me, finished);
                m.obey(who, order, wake);
            }),
            Place::Attaches => self.step(steps, |m| {
                let (order, wake) = m.sched.standby_attached(me);
                m.obey(who, order, wake);
            }),
            Place::Looks => self.step(steps, |m| match m.sched.notified(me) {
                Some((order, wake)) => m.obey(who, order, wake),
                None => m.threads[who].place = Place::Sleeps,
            }),
            Place::Sleeps => self.wake_for_no_reason(who, steps),
            Place::Glances => {
                self.step(steps, |m| m.threads[who].place = Place::AsksToLead { finished: false });
                self.arrivals(who, Place::AsksToLead { finished: false }, steps);
            }
            Place::Polls => self.polls(who, steps),
            Place::Calls(job) => self.calls(who, job, steps),
            Place::Pumps(job) => self.pumps(who, job, steps),
            Place::Runs(job) => {
                self.finish(who, job, Place::AsksToFollow { finished: true }, steps);
                self.wait_apart(who, job, steps);
            }
            Place::WaitsApart(job) => self.step(steps, |m| {
                m.threads[who].owes = Owes::Wake(m.sched.end_client_wait());
                m.threads[who].place = Place::Runs(job);
            }),
        }
    }

    fn wake_for_no_reason(&self, who: usize, steps: &mut Vec<Model>) {
        if self.left.spurious > 0 {
            self.step(steps, |m| {
                m.left.spurious -= 1;
                m.threads[who].place = Place::Looks;
            });
        }
    }

    /// The leader waits for events: requests come, queued ones are swept, or all is over and it stops the server.
    fn polls(&self, who: usize, steps: &mut Vec<Model>) {
        let next = Place::AsksToLead { finished: false };
        self.arrivals(who, next, steps);
        if self.left.sweeps > 0 && !self.sched.queue.is_empty() {
            self.step(steps, |m| {
                m.left.sweeps -= 1;
                let mut first = true;
                m.swept += m.sched.sweep(|_| std::mem::take(&mut first)).len() as u8;
                m.threads[who].place = next;
            });
        }
        let all_came = self.left.brief + self.left.hanging == 0;
        if all_came && self.sched.load() == (0, 0) {
            self.step(steps, |m| {
                m.sched.stop();
                m.threads[who].place = next;
                m.threads[who].owes = Owes::WakeOfAll;
            });
        }
    }

    /// One or two requests come in a batch that thread `who` processes.
    fn arrivals(&self, who: usize, next: Place, steps: &mut Vec<Model>) {
        let batches: [&[Job]; 4] =
            [&[Job::Ends], &[Job::Hangs], &[Job::Ends, Job::Ends], &[Job::Hangs, Job::Ends]];
        for batch in batches {
            let brief = batch.iter().filter(|job| **job == Job::Ends).count() as u8;
            let hanging = batch.len() as u8 - brief;
            if brief <= self.left.brief && hanging <= self.left.hanging {
                self.step(steps, |m| {
                    m.left.brief -= brief;
                    m.left.hanging -= hanging;
                    m.threads[who].place = next;
                    m.threads[who].owes = Owes::Wake(m.sched.push(batch.iter().copied()));
                });
            }
        }
    }

    fn calls(&self, who: usize, job: Job, steps: &mut Vec<Model>) {
        self.finish(who, job, Place::AsksToLead { finished: true }, steps);
        if self.left.waits_for_client > 0 {
            self.step(steps, |m| {
                m.left.waits_for_client -= 1;
                m.threads[who].owes = Owes::Heir(m.sched.promote(who as ThreadNumber, None));
            });
        }
    }

    fn wait_apart(&self, who: usize, job: Job, steps: &mut Vec<Model>) {
        if self.left.waits_apart == 0 {
            return;
        }
        self.step(steps, |m| {
            m.left.waits_apart -= 1;
            let (apart, wake) = m.sched.begin_client_wait();
            m.threads[who].owes = Owes::Wake(wake);
            if apart {
                m.threads[who].place = Place::WaitsApart(job);
            }
        });
    }

    /// Waiting for its client without an heir: it goes on with the others' events as long as nobody else does.
    fn pumps(&self, who: usize, job: Job, steps: &mut Vec<Model>) {
        self.step(steps, |m| m.threads[who].place = Place::Calls(job));
        if self.threads[who].leads {
            self.arrivals(who, Place::Pumps(job), steps);
        } else {
            self.step(steps, |m| {
                if !m.sched.keep_leading(who as ThreadNumber) {
                    m.threads[who].place = Place::Calls(job);
                }
            });
        }
    }

    /// A call ends; with it the client's next request may have come.
    fn finish(&self, who: usize, job: Job, next: Place, steps: &mut Vec<Model>) {
        if job == Job::Hangs {
            return;
        }
        let mut ended = self.clone();
        ended.done += 1;
        ended.threads[who].place = next;
        ended.arrivals(who, next, steps);
        steps.push(ended);
    }

    fn ask_to_lead(&mut self, who: usize, finished: bool) {
        let order = self.sched.lead(who as ThreadNumber, finished);
        let thread = &mut self.threads[who];
        match order {
            Lead::Run(job) => {
                thread.place = Place::Calls(job);
                if self.sched.wake_monitor() {
                    thread.owes = Owes::WakeOfMonitor;
                }
            }
            Lead::Poll => thread.place = Place::Polls,
            Lead::Glance => thread.place = Place::Glances,
            Lead::Demoted => thread.place = Place::AsksToFollow { finished },
            Lead::Stop => self.end(who),
        }
    }

    fn obey(&mut self, who: usize, order: Follow<Job>, wake: Wake) {
        let thread = &mut self.threads[who];
        thread.owes = Owes::Wake(wake);
        match order {
            Follow::Run(job) => thread.place = Place::Runs(job),
            Follow::Lead => thread.place = Place::AsksToLead { finished: false },
            Follow::Attach => thread.place = Place::Attaches,
            Follow::Wait => thread.place = Place::Looks,
            Follow::Stop => self.end(who),
        }
    }

    fn end(&mut self, who: usize) {
        self.threads.remove(who);
        self.sched.threads -= 1;
    }

    /// The same state with threads in a fixed order and without counters that only tell calls apart.
    fn canonical(mut self) -> Model {
        let leader = self.sched.leader;
        for (number, thread) in self.threads.iter_mut().enumerate() {
            thread.leads = leader == Some(number as ThreadNumber);
            if matches!(thread.owes, Owes::Wake(Wake::Nobody) | Owes::Heir(Wake::Nobody)) {
                thread.owes = Owes::Nothing;
            }
        }
        if self.monitor == Owes::Wake(Wake::Nobody) {
            self.monitor = Owes::Nothing;
        }
        self.threads.sort_unstable();
        let leads = self.threads.iter().position(|thread| thread.leads);
        self.sched.leader = leads.map(|number| number as ThreadNumber);
        self.sched.call %= 2;
        self.sched.polls = 0;
        self
    }
}
