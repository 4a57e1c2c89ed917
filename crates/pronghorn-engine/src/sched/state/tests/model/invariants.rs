//! What must hold in every state, and at the end of every path.

use super::*;

impl Model {
    pub(in super::super) fn check(&self) {
        let at = |place: &dyn Fn(&Thread) -> bool| self.threads.iter().filter(|t| place(t)).count();
        let sched = &self.sched;
        let new_threads = self.owed(Wake::NewThread);
        assert!(at(&|t| t.leads) <= 1, "{self:#?}");
        let apart = usize::from(self.apart);
        assert!(sched.outside <= sched.most + apart, "more run than may: {self:#?}");
        assert_eq!(sched.threads, self.threads.len() + new_threads, "threads: {self:#?}");
        assert!(sched.threads <= sched.most + 2 + apart, "too many threads: {self:#?}");
        let waits = at(&|t| matches!(t.place, Place::WaitsApart(_)));
        assert_eq!(sched.client_waits, waits, "waits for clients: {self:#?}");
        if sched.stopping {
            return;
        }
        assert_eq!(sched.leader.is_some(), at(&|t| t.leads) == 1, "{self:#?}");
        assert_eq!(sched.outside, at(&Thread::is_outside), "outside: {self:#?}");
        assert_eq!(
            sched.standby,
            at(&|t| t.place == Place::Attaches) + sched.unclaimed,
            "{self:#?}"
        );
        let waits = at(&|t| matches!(t.place, Place::Looks | Place::Sleeps));
        assert_eq!(sched.waiting + sched.notified, waits, "waiting: {self:#?}");
        let starting = new_threads + at(&|t| t.place == Place::Starts);
        assert_eq!(sched.starting, starting, "starting: {self:#?}");
        let coming = sched.notified + starting;
        assert!(sched.unclaimed <= coming, "nobody comes for a request: {self:#?}");
        if sched.leader.is_none() && coming == 0 {
            let asks = at(&|t| matches!(t.place, Place::AsksToFollow { .. } | Place::Attaches));
            assert!(asks + sched.outside > 0, "nobody will lead: {self:#?}");
        }
    }

    /// Nothing can happen any more: all is done, or hangs and the others wait rightly.
    pub(in super::super) fn check_end(&self) {
        let hanging = self.threads.iter().filter(|t| t.hangs()).count();
        if hanging == 0 {
            assert!(self.threads.is_empty() && self.sched.stopping, "some did not end: {self:#?}");
        } else if hanging < self.sched.most {
            assert!(self.sched.queue.is_empty(), "requests are left: {self:#?}");
            let polls = self.threads.iter().filter(|t| t.leads && t.place == Place::Polls).count();
            assert_eq!(polls, 1, "nobody polls: {self:#?}");
        }
    }

    fn owed(&self, wake: Wake) -> usize {
        let owes = self.threads.iter().map(|t| t.owes).chain([self.monitor]);
        owes.filter(|owes| matches!(owes, Owes::Wake(w) | Owes::Heir(w) if *w == wake)).count()
    }
}

impl Thread {
    fn is_outside(&self) -> bool {
        match self.place {
            Place::Runs(_) | Place::AsksToFollow { finished: true } => true,
            Place::Calls(_) | Place::Pumps(_) | Place::AsksToLead { finished: true } => !self.leads,
            _ => false,
        }
    }

    fn hangs(&self) -> bool {
        matches!(
            self.place,
            Place::Calls(Job::Hangs) | Place::Runs(Job::Hangs) | Place::Pumps(Job::Hangs)
        )
    }
}
