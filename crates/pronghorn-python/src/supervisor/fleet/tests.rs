//! The fleet, walked through by hand and at random.

use super::slot::pause;
use super::*;

const PATIENCE: Patience =
    Patience { start: 60_000, graceful: 30_000, quick: 1_000, waits_for_repair: false };

/// A fleet of which every worker serves, at time 0.
fn serving(count: usize) -> Fleet {
    let mut fleet = Fleet::new(count, PATIENCE);
    for action in fleet.advance(0) {
        match action {
            Action::Start(id, Cause::Start) => fleet.ready(id, 0, None),
            other => panic!("{other:?}"),
        }
    }
    assert!(fleet.is_settled());
    fleet
}

#[test]
fn a_new_worker_serves_before_the_old_one_is_told_to_drain() {
    let mut fleet = serving(1);
    fleet.asked(1, Reason::Requests);
    assert_eq!(fleet.advance(1), [Action::Start(2, Cause::Asked(Reason::Requests))]);
    assert_eq!(fleet.advance(2), []);
    fleet.ready(2, 3, None);
    assert_eq!(fleet.advance(3), [Action::Drain(1)]);
    assert_eq!(fleet.ended(1, 4), End::Told);
    assert!(fleet.is_settled() && fleet.advance(5).is_empty());
}

#[test]
fn a_worker_that_is_asked_for_twice_is_replaced_once() {
    let mut fleet = serving(1);
    fleet.asked(1, Reason::Requests);
    fleet.asked(1, Reason::Memory);
    assert_eq!(fleet.advance(1).len(), 1);
    fleet.ready(2, 2, None);
    fleet.asked(1, Reason::Memory);
    assert_eq!(fleet.advance(2), [Action::Drain(1)]);
}

#[test]
fn a_reload_takes_turns() {
    let mut fleet = serving(3);
    fleet.reload(3, PATIENCE, 1);
    for (old, new) in [(1, 4), (2, 5), (3, 6)] {
        assert_eq!(fleet.advance(2).pop(), Some(Action::Start(new, Cause::Reload)));
        assert_eq!(fleet.advance(2), []);
        fleet.ready(new, 3, None);
        assert_eq!(fleet.ended(old, 3), End::Told);
    }
    assert_eq!(fleet.advance(4), [Action::Drain(3)]);
    assert!(fleet.is_settled());
}

#[test]
fn a_turn_of_a_reload_waits_for_the_end_of_the_worker_before_but_not_long() {
    let mut fleet = serving(3);
    fleet.reload(3, PATIENCE, 0);
    assert_eq!(fleet.advance(0), [Action::Start(4, Cause::Reload)]);
    fleet.ready(4, 10, None);
    assert_eq!(fleet.advance(10), [Action::Drain(1)]);
    assert_eq!(fleet.next_time(), Some(10 + PACE));
    assert_eq!(fleet.ended(1, 20), End::Told);
    assert_eq!(fleet.advance(20), [Action::Start(5, Cause::Reload)]);
    fleet.ready(5, 30, None);
    assert_eq!(fleet.advance(30), [Action::Drain(2)]);
    assert_eq!(fleet.advance(29 + PACE), []);
    assert_eq!(fleet.advance(30 + PACE), [Action::Start(6, Cause::Reload)]);
}

#[test]
fn a_reload_that_does_not_start_ends_and_the_old_ones_stay() {
    let mut fleet = serving(2);
    fleet.reload(2, PATIENCE, 1);
    assert_eq!(fleet.advance(1), [Action::Start(3, Cause::Reload)]);
    assert_eq!(fleet.ended(3, 2), End::Start(Cause::Reload));
    assert_eq!(fleet.advance(60_000), []);
    assert!(fleet.is_settled() && fleet.ending().is_none());
    assert_eq!(fleet.serving_ids().collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn a_reload_begins_anew_what_was_starting() {
    let mut fleet = serving(1);
    fleet.asked(1, Reason::Memory);
    assert_eq!(fleet.advance(1), [Action::Start(2, Cause::Asked(Reason::Memory))]);
    fleet.reload(1, PATIENCE, 2);
    assert_eq!(fleet.advance(2), [Action::Abandon(2), Action::Start(3, Cause::Reload)]);
    assert_eq!(fleet.ended(2, 3), End::Abandoned);
}

#[test]
fn the_first_start_that_fails_ends_everything() {
    let mut fleet = Fleet::new(2, PATIENCE);
    assert_eq!(fleet.advance(0).len(), 2);
    assert_eq!(fleet.ended(1, 1), End::Start(Cause::Start));
    assert_eq!(fleet.advance(1), [Action::Abandon(2)]);
    assert_eq!(fleet.ended(2, 2), End::Abandoned);
    assert!(fleet.is_over());
    assert_eq!(fleet.ending(), Some(Ending::Failed));
}

#[test]
fn a_crash_is_mended_at_once_and_a_loop_of_crashes_with_growing_pauses() {
    let mut fleet = serving(1);
    let mut now = 20_000;
    assert_eq!(fleet.ended(1, now), End::Crash);
    assert_eq!(fleet.advance(now), [Action::Start(2, Cause::Crash)]);
    let mut id = 2;
    for expected in [0, 1, 2, 4, 8, 16, 30, 30].map(|seconds| seconds * 1000) {
        fleet.ready(id, now, None);
        assert_eq!(fleet.ended(id, now), End::Crash);
        if expected > 0 {
            assert_eq!(fleet.advance(now), []);
            assert_eq!(fleet.next_time(), Some(now + expected));
            assert_eq!(fleet.pause(now + 1), expected - 1);
        }
        now += expected;
        id += 1;
        assert_eq!(fleet.advance(now), [Action::Start(id, Cause::Crash)]);
    }
}

#[test]
fn a_worker_that_does_not_get_ready_in_time_is_killed_and_tried_again() {
    let mut fleet = serving(1);
    fleet.asked(1, Reason::Stuck);
    assert_eq!(fleet.advance(0), [Action::Start(2, Cause::Asked(Reason::Stuck))]);
    assert_eq!(fleet.next_time(), Some(60_000));
    assert_eq!(fleet.advance(60_000), [Action::Kill(2)]);
    assert!(fleet.is_starting(2));
    assert_eq!(fleet.advance(60_001), []);
    assert_eq!(fleet.ended(2, 60_002), End::Start(Cause::Asked(Reason::Stuck)));
    assert_eq!(fleet.advance(60_002), [Action::Start(3, Cause::Asked(Reason::Stuck))]);
}

#[test]
fn a_drain_that_takes_too_long_is_cut() {
    let mut fleet = serving(1);
    fleet.end(Ending::Graceful, 0);
    assert_eq!(fleet.advance(0), [Action::Drain(1)]);
    assert_eq!(fleet.advance(31_999), []);
    assert_eq!(fleet.advance(32_000), [Action::Kill(1)]);
    assert!(!fleet.is_starting(1));
    assert_eq!(fleet.ended(1, 32_001), End::Cut);
    assert!(fleet.is_over());
}

#[test]
fn a_quick_end_hurries_a_graceful_one() {
    let mut fleet = serving(1);
    fleet.end(Ending::Graceful, 0);
    fleet.end(Ending::Quick, 5);
    fleet.end(Ending::Graceful, 6);
    assert_eq!(fleet.advance(6), [Action::Drain(1), Action::Stop(1)]);
    assert_eq!(fleet.next_time(), Some(3_005));
    fleet.kill_all(7);
    assert_eq!(fleet.advance(7), [Action::Kill(1)]);
}

#[test]
fn fewer_and_more_workers() {
    let mut fleet = serving(2);
    fleet.resize(1, 0);
    assert_eq!(fleet.advance(0), [Action::Drain(2)]);
    fleet.resize(3, 1);
    assert_eq!(fleet.advance(1), [Action::Start(3, Cause::Start), Action::Start(4, Cause::Start)]);
}

#[test]
fn a_worker_retires_when_it_has_lived_long_enough() {
    let mut fleet = Fleet::new(1, PATIENCE);
    assert_eq!(fleet.advance(0).len(), 1);
    fleet.ready(1, 0, Some(500));
    assert_eq!(fleet.next_time(), Some(500));
    assert_eq!(fleet.advance(500), [Action::Start(2, Cause::Asked(Reason::Lifetime))]);
}

#[test]
fn an_application_under_repair_is_waited_for() {
    let mut fleet = Fleet::new(1, Patience { waits_for_repair: true, ..PATIENCE });
    assert_eq!(fleet.advance(0), [Action::Start(1, Cause::Start)]);
    fleet.failed(1);
    assert_eq!(fleet.next_time(), None);
    assert_eq!(fleet.ended(1, 100_000), End::Start(Cause::Start));
    assert_eq!(fleet.advance(100_000), [Action::Start(2, Cause::Start)]);
    fleet.ready(2, 100_001, None);
    // A change that breaks it: the old one stays, and asks again when it is changed again.
    fleet.asked(2, Reason::Changed);
    assert_eq!(fleet.advance(100_002), [Action::Start(3, Cause::Asked(Reason::Changed))]);
    assert!(fleet.replaces(3));
    assert_eq!(fleet.ended(3, 100_003), End::Start(Cause::Asked(Reason::Changed)));
    assert_eq!(fleet.advance(200_000), []);
    // It is repaired while what was broken is still being imported.
    fleet.asked(2, Reason::Changed);
    assert_eq!(fleet.advance(200_000), [Action::Start(4, Cause::Asked(Reason::Changed))]);
    fleet.asked(2, Reason::Changed);
    assert_eq!(fleet.ended(4, 200_001), End::Start(Cause::Asked(Reason::Changed)));
    assert_eq!(fleet.advance(300_000), [Action::Start(5, Cause::Asked(Reason::Changed))]);
}

#[test]
fn a_worker_that_is_outdated_before_it_serves_is_replaced_when_it_does() {
    let mut fleet = Fleet::new(1, Patience { waits_for_repair: true, ..PATIENCE });
    assert_eq!(fleet.advance(0), [Action::Start(1, Cause::Start)]);
    fleet.asked(1, Reason::Changed);
    assert_eq!(fleet.advance(1), []);
    fleet.ready(1, 2, None);
    assert_eq!(fleet.advance(2), [Action::Start(2, Cause::Asked(Reason::Changed))]);
    fleet.asked(2, Reason::Changed);
    // It cannot start: that is no reason to stay with the old one, as it was changed meanwhile.
    assert_eq!(fleet.ended(2, 3), End::Start(Cause::Asked(Reason::Changed)));
    assert_eq!(fleet.advance(3), [Action::Start(3, Cause::Asked(Reason::Changed))]);
    // What the old one sees, the new one may have imported.
    fleet.asked(1, Reason::Changed);
    fleet.ready(3, 4, None);
    assert_eq!(fleet.advance(4), [Action::Drain(1)]);
}

#[test]
fn a_worker_that_dies_while_it_imports_is_not_started_again_and_again() {
    let mut fleet = Fleet::new(1, Patience { waits_for_repair: true, ..PATIENCE });
    assert_eq!(fleet.advance(0), [Action::Start(1, Cause::Start)]);
    assert!(!fleet.replaces(1));
    fleet.ended(1, 0);
    assert_eq!(fleet.advance(0), [Action::Start(2, Cause::Start)]);
    fleet.ended(2, 0);
    assert_eq!(fleet.advance(0), []);
    assert_eq!(fleet.next_time(), Some(pause(2)));
}

/// A generator of numbers that is the same each time (splitmix64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (mixed ^ (mixed >> 27)) % bound
    }
}

/// What a worker of the walk does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Life {
    Starting,
    Serving,
    Told,
}

#[test]
fn whatever_happens_nobody_drains_without_another_in_place_and_all_ends() {
    for seed in 0..2_000 {
        walk(&mut Random(seed));
    }
}

/// Lets things happen at random, and then no more: it settles; then ends it.
fn walk(random: &mut Random) {
    let mut wanted = 1 + random.below(3) as usize;
    let mut fleet = Fleet::new(wanted, PATIENCE);
    let mut lives = std::collections::BTreeMap::new();
    let mut now = 0;
    for step in 0..200 {
        now += random.below(3_000);
        let quiet = step >= 120;
        let act = if quiet { 0 } else { random.below(8) };
        let mut serves = serving_count(&lives);
        match act {
            5 => {
                wanted = 1 + random.below(3) as usize;
                fleet.resize(wanted, now);
            }
            6 => fleet.reload(wanted, PATIENCE, now),
            _ => happen(&mut fleet, &mut lives, random, now, quiet),
        }
        let fewer = act == 5;
        serves = serves.min(serving_count(&lives));
        for action in fleet.advance(now) {
            carry_out(&mut lives, action);
        }
        assert!(fleet.next_time().is_none_or(|due| due > now), "it would not wait: {fleet:?}");
        let left = serving_count(&lives);
        assert!(fewer || left >= serves.min(wanted), "{left} of {serves} serve");
        if fleet.ending().is_some() {
            break;
        }
    }
    if fleet.ending().is_none() {
        assert!(fleet.is_settled(), "{fleet:?}");
        assert_eq!(fleet.serving_ids().count(), wanted);
    }
    fleet.end(Ending::Graceful, now);
    for action in fleet.advance(now) {
        carry_out(&mut lives, action);
    }
    assert!(lives.values().all(|life| *life == Life::Told), "{lives:?}");
    for id in lives.into_keys() {
        fleet.ended(id, now);
    }
    assert!(fleet.is_over());
}

fn serving_count(lives: &Lives) -> usize {
    lives.values().filter(|life| **life == Life::Serving).count()
}

type Lives = std::collections::BTreeMap<Id, Life>;

/// One worker does something; when all is `quiet`, what it should.
fn happen(fleet: &mut Fleet, lives: &mut Lives, random: &mut Random, now: u64, quiet: bool) {
    let count = lives.len() as u64;
    if count == 0 {
        return;
    }
    let (&id, &life) = lives.iter().nth(random.below(count) as usize).expect("one");
    match (life, random.below(4)) {
        (Life::Starting, 1..) => {
            fleet.ready(id, now, None);
            lives.insert(id, Life::Serving);
        }
        (Life::Serving, 1) if !quiet => fleet.asked(id, Reason::Memory),
        (Life::Serving, 1..) => {}
        (Life::Told, _) => {
            lives.remove(&id);
            assert_ne!(fleet.ended(id, now), End::Unknown);
        }
        (_, 0) if !quiet => {
            lives.remove(&id);
            assert_ne!(fleet.ended(id, now), End::Unknown);
        }
        _ => {}
    }
}

fn carry_out(lives: &mut Lives, action: Action) {
    match action {
        Action::Start(id, _) => assert!(lives.insert(id, Life::Starting).is_none()),
        Action::Drain(id) => assert_eq!(lives.insert(id, Life::Told), Some(Life::Serving)),
        Action::Abandon(id) => assert_eq!(lives.insert(id, Life::Told), Some(Life::Starting)),
        Action::Stop(id) => assert!(lives.insert(id, Life::Told).is_some()),
        // It ends with the next thing that happens to it.
        Action::Kill(id) => assert!(lives.contains_key(&id)),
    }
}

#[test]
fn one_that_became_ready_as_it_was_told_to_end_finishes_what_it_has() {
    let mut fleet = serving(1);
    fleet.asked(1, Reason::Requests);
    fleet.advance(1);
    assert!(fleet.is_starting(2) && !fleet.is_starting(1));
    assert!(!fleet.is_paused());
    fleet.end(Ending::Graceful, 2);
    assert!(fleet.is_paused());
    assert_eq!(fleet.advance(2), [Action::Abandon(2), Action::Drain(1)]);
    fleet.ready(2, 3, None);
    assert_eq!(fleet.ended(1, 4), End::Told);
    assert_eq!(fleet.advance(2 + MARGIN), []);
    assert_eq!(fleet.advance(3 + PATIENCE.graceful + MARGIN), [Action::Kill(2)]);
    assert_eq!(fleet.ended(2, 40_000), End::Cut);
    assert!(fleet.is_over());
}
