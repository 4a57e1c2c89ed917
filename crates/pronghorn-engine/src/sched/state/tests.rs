//! Every interleaving of a few threads and requests over the scheduling state.
//!
//! The model runs the real transitions; around them it keeps where each thread stands, and takes every step the threads
//! could take next: also calls that never end, threads that cannot be started and wake-ups for no reason.

mod model;

use std::collections::{HashMap, VecDeque};

use self::model::{Budget, Model};
use super::{Follow, Lead, Sched, Wake};

#[test]
fn two_at_once_serve_every_request_and_end() {
    explore(2, Budget { brief: 4, glances: 1, spurious: 1, sweeps: 1, ..Budget::default() });
}

#[test]
fn three_at_once_serve_every_request_and_end() {
    explore(3, Budget { brief: 4, ..Budget::default() });
}

#[test]
fn a_call_that_hangs_keeps_no_other_request_from_running() {
    explore(2, Budget { brief: 3, hanging: 1, spurious: 1, ..Budget::default() });
    explore(3, Budget { brief: 2, hanging: 2, ..Budget::default() });
}

#[test]
fn a_call_that_waits_for_its_client_hands_leadership_over() {
    explore(2, Budget { brief: 3, waits_for_client: 2, ..Budget::default() });
    explore(2, Budget { brief: 2, hanging: 1, waits_for_client: 1, ..Budget::default() });
}

#[test]
fn a_request_that_waits_for_its_client_keeps_no_other_from_running() {
    explore(2, Budget { brief: 3, waits_apart: 2, ..Budget::default() });
    explore(2, Budget { brief: 2, hanging: 1, waits_apart: 1, ..Budget::default() });
    explore(2, Budget { brief: 3, failed_starts: 2, waits_apart: 1, ..Budget::default() });
}

#[test]
fn threads_that_cannot_be_started_lose_nothing() {
    explore(2, Budget { brief: 3, failed_starts: 2, ..Budget::default() });
    explore(3, Budget { brief: 3, failed_starts: 3, waits_for_client: 1, ..Budget::default() });
    explore(2, Budget { brief: 2, failed_starts: 9, waits_for_client: 2, ..Budget::default() });
}

#[test]
fn the_leader_naps_only_while_others_have_a_queue_to_work_off() {
    let mut sched = Sched::new(2, 0);
    let _ = sched.push(0..20);
    assert!(!sched.begin_nap(), "it runs the queue itself");
    assert!(matches!(sched.lead(0, false), Lead::Run(0)));
    assert_eq!(sched.promote(0, None), Wake::NewThread);
    assert!(matches!(sched.started(1), (Follow::Lead, _)));
    assert!(sched.begin_nap() && sched.naps());
    for left in (0..19).rev() {
        assert_eq!(sched.ends_nap(), left == 1, "{left} are left");
        assert!(matches!(sched.follow(0, true), (Follow::Run(_), _)));
    }
    assert!(!sched.naps() && !sched.begin_nap(), "nothing is queued");
}

/// Takes every path from the start, checks every state on it, and that an end can be reached from each.
fn explore(most: usize, budget: Budget) {
    let start = Model::new(most, budget);
    let mut numbers = HashMap::from([(start.clone(), 0)]);
    let mut states = vec![start];
    let mut comes_from: Vec<Vec<usize>> = vec![Vec::new()];
    let mut ends = VecDeque::new();
    let mut at = 0;
    while at < states.len() {
        let state = states[at].clone();
        state.check();
        let steps = state.steps();
        if steps.is_empty() {
            state.check_end();
            ends.push_back(at);
        }
        for next in steps {
            let number = *numbers.entry(next).or_insert_with_key(|next| {
                states.push(next.clone());
                comes_from.push(Vec::new());
                states.len() - 1
            });
            comes_from[number].push(at);
        }
        at += 1;
    }
    assert_all_reach_an_end(&states, &comes_from, ends);
}

fn assert_all_reach_an_end(states: &[Model], comes_from: &[Vec<usize>], ends: VecDeque<usize>) {
    let mut reaches = vec![false; states.len()];
    let mut open = ends;
    while let Some(at) = open.pop_front() {
        if !std::mem::replace(&mut reaches[at], true) {
            open.extend(&comes_from[at]);
        }
    }
    if let Some(stuck) = reaches.iter().position(|reaches| !reaches) {
        panic!("no way leads to an end from {:#?}", states[stuck]);
    }
}
