//! The follower: takes requests from the run queue, or waits.

use std::sync::PoisonError;

use super::state::Follow;
use super::thread::EngineThread;
use crate::event_loop::Job;

impl EngineThread {
    /// Does what a follower was told, and gives what it is told next.
    pub(super) fn follow(&mut self, order: Follow<Job>) -> Follow<Job> {
        match order {
            Follow::Run(job) => {
                self.run(job);
                self.next_as_follower(true)
            }
            Follow::Attach => {
                self.attach();
                let (next, wake) = self.shared.sched().standby_attached(self.number);
                self.wake(wake);
                next
            }
            Follow::Wait => self.wait(),
            Follow::Lead | Follow::Stop => order,
        }
    }

    /// Asks for the next order after a request (`finished`).
    pub(super) fn next_as_follower(&mut self, finished: bool) -> Follow<Job> {
        let (next, wake) = self.shared.sched().follow(self.number, finished);
        self.wake(wake);
        if finished && self.shared.is_draining() {
            // The leader may have looked for the end of the drain while this request still counted.
            self.shared.waker.wake();
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
