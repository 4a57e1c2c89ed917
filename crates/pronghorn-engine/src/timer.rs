//! The timer wheel: coarse deadlines for very many connections.
//!
//! A connection keeps its deadline itself; the wheel only holds reminders to look at it. Moving a deadline back, which
//! every request does, therefore touches no list: the reminder fires early, and the look makes a new one.

/// One turn of the wheel's clock, in milliseconds: how late a deadline may be noticed.
pub(crate) const TICK_MILLIS: u64 = 64;

const SLOTS: usize = 1024;
const WORDS: usize = SLOTS / 64;

/// A point in time, in ticks since the wheel was made. 0 is never.
pub(crate) type Tick = u32;

/// A reminder: which connection to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reminder {
    /// The connection's index in the table.
    pub(crate) index: u32,
    /// Its generation when the reminder was made.
    pub(crate) generation: u32,
}

/// Reminders by the tick at which they are due, for the next 65 seconds; a later one is looked at, and renewed, after that.
#[derive(Debug)]
pub(crate) struct Wheel {
    slots: Vec<Vec<Reminder>>,
    occupied: [u64; WORDS],
    origin_millis: u64,
    now: Tick,
}

impl Wheel {
    /// A wheel whose time starts at `millis` of the monotonic clock.
    pub(crate) fn new(millis: u64) -> Self {
        // Tick 0 means never, so time starts at 1.
        let origin_millis = millis.saturating_sub(TICK_MILLIS);
        Wheel { slots: vec![Vec::new(); SLOTS], occupied: [0; WORDS], origin_millis, now: 1 }
    }

    /// The tick that is `millis` from `now_millis`, rounded up.
    pub(crate) fn after(&self, now_millis: u64, millis: u64) -> Tick {
        let from_origin = now_millis.saturating_sub(self.origin_millis).saturating_add(millis);
        Tick::try_from(from_origin.div_ceil(TICK_MILLIS)).unwrap_or(Tick::MAX)
    }

    /// Makes a reminder for `tick`; gives the tick at which it will really fire (no later than asked).
    pub(crate) fn remind(&mut self, tick: Tick, reminder: Reminder) -> Tick {
        let due = tick.clamp(self.now + 1, self.now + SLOTS as Tick - 1);
        let slot = due as usize % SLOTS;
        self.slots[slot].push(reminder);
        self.occupied[slot / 64] |= 1 << (slot % 64);
        due
    }

    /// Moves time to `now_millis` and appends what is due to `due`.
    pub(crate) fn advance(&mut self, now_millis: u64, due: &mut Vec<Reminder>) -> Tick {
        let target = Tick::try_from(now_millis.saturating_sub(self.origin_millis) / TICK_MILLIS)
            .unwrap_or(Tick::MAX);
        // A whole turn passes every slot once.
        let first = self.now.max(target.saturating_sub(SLOTS as Tick));
        for tick in first + 1..=target {
            self.take_slot(tick as usize % SLOTS, due);
        }
        self.now = self.now.max(target);
        self.now
    }

    /// Milliseconds from `now_millis` to the next reminder; `None` when there is none.
    pub(crate) fn next_millis(&self, now_millis: u64) -> Option<u64> {
        Some(self.millis(self.next_occupied()?).saturating_sub(now_millis))
    }

    /// When `tick` is, in milliseconds of the monotonic clock.
    pub(crate) fn millis(&self, tick: Tick) -> u64 {
        self.origin_millis + u64::from(tick) * TICK_MILLIS
    }

    fn take_slot(&mut self, slot: usize, due: &mut Vec<Reminder>) {
        if self.occupied[slot / 64] & (1 << (slot % 64)) != 0 {
            self.occupied[slot / 64] &= !(1 << (slot % 64));
            due.append(&mut self.slots[slot]);
        }
    }

    fn next_occupied(&self) -> Option<Tick> {
        let start = self.now as usize + 1;
        let mut ahead = 0;
        while ahead < SLOTS {
            let slot = (start + ahead) % SLOTS;
            let word = self.occupied[slot / 64] >> (slot % 64);
            if word != 0 {
                return Some((start + ahead + word.trailing_zeros() as usize) as Tick);
            }
            ahead += 64 - slot % 64;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reminder(index: u32) -> Reminder {
        Reminder { index, generation: 0 }
    }

    fn due_at(wheel: &mut Wheel, millis: u64) -> Vec<u32> {
        let mut due = Vec::new();
        wheel.advance(millis, &mut due);
        due.iter().map(|reminder| reminder.index).collect()
    }

    #[test]
    fn a_reminder_fires_at_its_tick_and_not_before() {
        let mut wheel = Wheel::new(5_000);
        let tick = wheel.after(5_000, 1_000);
        assert_eq!(wheel.remind(tick, reminder(7)), tick);
        assert_eq!(due_at(&mut wheel, 5_990), [] as [u32; 0]);
        assert_eq!(due_at(&mut wheel, 6_000 + TICK_MILLIS), [7]);
        assert_eq!(due_at(&mut wheel, 9_000), [] as [u32; 0]);
    }

    #[test]
    fn the_next_reminder_is_found_across_the_end_of_the_wheel() {
        let mut wheel = Wheel::new(0);
        for now in (0..200_000).step_by(977) {
            due_at(&mut wheel, now);
            let tick = wheel.after(now, 3_000);
            wheel.remind(tick, reminder(1));
            let next = wheel.next_millis(now).expect("there is one");
            assert!((3_000..3_000 + 2 * TICK_MILLIS).contains(&next), "{next} at {now}");
            assert_eq!(due_at(&mut wheel, now + next), [1]);
            assert_eq!(wheel.next_millis(now + next), None);
        }
    }

    #[test]
    fn a_far_deadline_is_looked_at_within_the_wheels_horizon() {
        let mut wheel = Wheel::new(0);
        let far = wheel.after(0, 600_000);
        let fires = wheel.remind(far, reminder(3));
        assert!(fires < far);
        assert_eq!(due_at(&mut wheel, u64::from(fires) * TICK_MILLIS), [3]);
    }

    #[test]
    fn a_sleep_longer_than_the_wheel_loses_nothing() {
        let mut wheel = Wheel::new(0);
        for index in 0..500 {
            let tick = wheel.after(0, u64::from(index) * 100);
            wheel.remind(tick, reminder(index));
        }
        let mut due = due_at(&mut wheel, 10_000_000);
        due.sort_unstable();
        assert_eq!(due, (0..500).collect::<Vec<_>>());
    }
}
