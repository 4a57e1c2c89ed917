//! The follower: takes requests from the run queue, or waits.

use std::sync::PoisonError;

use super::state::{Follow, Sched, ThreadNumber, Wake};
use super::thread::EngineThread;
use crate::event_loop::Job;
use crate::handler::Handler;

impl EngineThread {
    /// Does what a follower was told, and gives what it is told next.
    pub(super) fn follow(&mut self, handler: &dyn Handler, order: Follow<Job>) -> Follow<Job> {
        match order {
            Follow::Run(job) => {
                self.run(handler, job);
                self.next_as_follower(true)
            }
            Follow::Attach => {
                self.attach();
                self.ask(|sched, me| sched.standby_attached(me))
            }
            Follow::Wait => self.wait(),
            Follow::Lead | Follow::Stop => order,
        }
    }

    /// Asks for the next order after a request (`finished`).
    pub(super) fn next_as_follower(&mut self, finished: bool) -> Follow<Job> {
        let next = self.ask(|sched, me| sched.follow(me, finished));
        if finished && self.shared.is_draining() {
            // The leader may have looked for the end of the drain while this request still counted.
            self.shared.waker.wake();
        }
        next
    }

    /// Asks for an order, and wakes whom that concerns: another follower, or the leader when its nap is over.
    fn ask(
        &self,
        ask: impl FnOnce(&mut Sched<Job>, ThreadNumber) -> (Follow<Job>, Wake),
    ) -> Follow<Job> {
        let mut sched = self.shared.sched();
        let (next, wake) = ask(&mut sched, self.number);
        let ends_nap = sched.ends_nap();
        self.shared.count_load(&sched);
        drop(sched);
        self.wake(wake);
        if ends_nap {
            self.shared.low.notify_one();
        }
        next
    }

    /// Waits until notified; the wait is counted already.
    fn wait(&mut self) -> Follow<Job> {
        self.detach();
        let shared = self.shared.clone();
        let mut sched = shared.sched();
        loop {
            if let Some((next, wake)) = sched.notified(self.number) {
                drop(sched);
                self.wake(wake);
                return next;
            }
            sched = shared.followers.wait(sched).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
