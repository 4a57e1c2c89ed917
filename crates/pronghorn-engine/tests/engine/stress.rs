//! Thousands of requests of every kind at once: each is answered once and with its own answer, and nothing is left behind.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use pronghorn_engine::Exchange;

use crate::client::{Client, DEADLINE, get};
use crate::server::{Running, answer, in_own_process, target, threads};

const THREADS: usize = 4;
const CLIENTS: u64 = 8;
const ROUNDS: u64 = 400;
const PANIC: &str = "a panic that is part of the test";

/// How often each target was run.
type Runs = Arc<Mutex<HashMap<String, u32>>>;

#[test]
fn a_mix_of_requests_loses_nothing_with_many_threads() {
    in_own_process("stress::a_mix_of_requests_loses_nothing_with_many_threads", || mix(THREADS));
}

#[test]
fn a_mix_of_requests_loses_nothing_on_one_thread() {
    in_own_process("stress::a_mix_of_requests_loses_nothing_on_one_thread", || mix(1));
}

fn mix(count: usize) {
    silence_expected_panics();
    let idle = (descriptors(), running_threads());
    let runs = Runs::default();
    let log = runs.clone();
    let server = Running::start(threads(count), move |exchange| serve(exchange, &log));
    let before = descriptors();
    let address = server.address;
    let clients: Vec<_> =
        (0..CLIENTS).map(|number| thread::spawn(move || be_client(number, address))).collect();
    let mut answered: Vec<String> = Vec::new();
    for client in clients {
        answered.extend(client.join().expect("every answer was right"));
    }
    // The leader, one that waits for its turn, the monitor and the thread of the test's server.
    let most = idle.1 + count + 3;
    assert!(running_threads() <= most, "{} threads, {most} expected", running_threads());
    eventually("the connections are closed", || descriptors() <= before);
    server.end();
    eventually("the threads end", || running_threads() <= idle.1);
    eventually("the descriptors are closed", || descriptors() <= idle.0);

    let runs = runs.lock().expect("no panic");
    assert!(runs.values().all(|runs| *runs == 1), "a request was run twice");
    assert!(answered.iter().all(|target| runs.contains_key(target)));
    assert!(answered.len() as u64 > CLIENTS * ROUNDS / 2);
}

/// Answers with the target, in the manner its first part says.
fn serve(exchange: &mut Exchange<'_>, runs: &Runs) {
    let target = target(exchange);
    *runs.lock().expect("no panic").entry(target.clone()).or_default() += 1;
    match target.split('/').nth(1) {
        Some("sleep") => thread::sleep(Duration::from_millis(4)),
        Some("spin") => {
            let begun = Instant::now();
            while begun.elapsed() < Duration::from_millis(2) {}
        }
        Some("panic") => panic!("{PANIC}"),
        _ => {}
    }
    answer(exchange, target);
}

/// One client's requests; gives those that were answered.
fn be_client(number: u64, address: SocketAddr) -> Vec<String> {
    let mut random = Random(number + 1);
    let mut answered = Vec::new();
    let mut client = Client::connect(address);
    for round in 0..ROUNDS {
        let pipelined = if random.below(10) == 0 { 5 } else { 1 };
        let targets: Vec<_> = (0..pipelined)
            .map(|place| format!("/{}/{number}-{round}-{place}", kind(&mut random)))
            .collect();
        let wire: String = targets.iter().map(|target| get(target)).collect();
        client.send(&wire[..wire.len() / 2]);
        client.send(&wire[wire.len() / 2..]);
        if random.below(12) == 0 {
            // Gives up without reading.
            client = Client::connect(address);
            continue;
        }
        for target in targets {
            let response = client.response();
            let panics = target.starts_with("/panic");
            answered.push(target.clone());
            if panics {
                assert!(response.status == 500 && response.closes(), "{target}: {response:?}");
                client.expect_end();
                client = Client::connect(address);
                break;
            }
            assert_eq!((response.status, response.text()), (200, target));
        }
    }
    answered
}

fn kind(random: &mut Random) -> &'static str {
    match random.below(20) {
        0..=1 => "sleep",
        2..=3 => "spin",
        4 => "panic",
        _ => "fast",
    }
}

/// A sequence of numbers that is the same in every run (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }
}

fn silence_expected_panics() {
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if info.payload().downcast_ref::<String>().is_none_or(|text| text != PANIC) {
            usual(info);
        }
    }));
}

fn eventually(what: &str, holds: impl Fn() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < DEADLINE, "{what}: not in time");
        thread::sleep(Duration::from_millis(5));
    }
}

fn descriptors() -> usize {
    std::fs::read_dir("/proc/self/fd").expect("Linux").count()
}

fn running_threads() -> usize {
    std::fs::read_dir("/proc/self/task").expect("Linux").count()
}
