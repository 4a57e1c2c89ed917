//! What the watchdog writes to the log.

use std::fmt::Write as _;
use std::time::Duration;

use super::details::{Answer, Seen};
use super::under_way::UnderWay;
use super::{RequestTask, Stack};
use crate::dialogue::Stage;

/// A request over its time.
pub(super) fn overdue(seen: &Seen, answer: Answer, stacks: &[Stack]) {
    let answered = match answer {
        Answer::Whole { status, .. } => format!("its client got {status}"),
        Answer::Cut => "its client does not read".to_owned(),
        Answer::None => "its response had begun and is cut".to_owned(),
    };
    log::error!(
        "{}: runs for {}, longer than request-timeout allows; it is interrupted, {answered}.{}",
        seen.label,
        seconds(seen.age),
        own(seen, stacks)
    );
}

/// A request that runs for longer than is usual.
pub(super) fn slow(seen: &Seen, stacks: &[Stack]) {
    log::warn!(
        "{}: runs for {}, longer than slow-request.{}",
        seen.label,
        seconds(seen.age),
        own(seen, stacks)
    );
}

/// A request that does not end although it was interrupted. `replaced`: another process was asked for.
pub(super) fn stuck(seen: &Seen, grace: u64, replaced: bool) {
    let remedy = match replaced {
        true => "This process will be replaced",
        false => {
            "Nobody is there to replace this process: its thread is lost until the request ends"
        }
    };
    log::error!(
        "{}: has not ended {} after it was interrupted; it is stuck in a call that cannot be interrupted (into C, say), or does not let itself be interrupted. {remedy}.",
        seen.label,
        seconds(grace)
    );
}

/// All threads, and what they serve. `queued` requests wait for a thread.
pub(super) fn all(running: &[Seen], queued: usize, stacks: &[Stack]) {
    let mut text = format!(
        "stacks of all threads, as asked for. Requests that run: {}; that wait for a thread: {queued}",
        running.len()
    );
    for seen in running {
        let Seen { label, work, age, .. } = seen;
        // Writing to memory does not fail.
        let _ = write!(text, "\n{label}, for {}, in thread {:#x}:", seconds(*age), work.thread);
        text.push_str(&own(seen, stacks));
    }
    let serves = |stack: &&Stack| running.iter().any(|seen| seen.work.thread == stack.thread);
    stacks.iter().filter(|stack| !serves(stack)).for_each(|stack| write_thread(&mut text, stack));
    log::warn!("{text}");
}

/// All threads, and the requests of a server with a host. `has_tasks`: it is known where their tasks wait.
pub(super) fn all_of_host(under_way: &UnderWay, has_tasks: bool, stacks: &[Stack]) {
    let mut text = format!(
        "stacks of all threads, as asked for. Requests under way: {}",
        under_way.shown.len() + under_way.others
    );
    if !has_tasks {
        text.push_str(
            ". Where their tasks wait cannot be told while the interpreter's lock is held",
        );
    }
    under_way.shown.iter().for_each(|shown| write_request(&mut text, shown));
    if under_way.others > 0 {
        let _ = write!(text, "\nand {} more", under_way.others);
    }
    stacks.iter().for_each(|stack| write_thread(&mut text, stack));
    log::warn!("{text}");
}

fn write_request(text: &mut String, RequestTask { request, stack }: &RequestTask) {
    let stage = match request.stage() {
        Stage::Waiting => ", waits for the event loop",
        Stage::Running if request.is_given_up() => ", its client got 504",
        Stage::Running => "",
        Stage::Responding => ", its response has begun",
        Stage::Outlasting => ", its response has ended and its task goes on",
    };
    let age = request.age().as_secs_f64();
    let _ = write!(text, "\n{request}, for {age:.1} s{stage}");
    if !stack.is_empty() {
        let _ = write!(text, ":\n{}", stack.trim_end());
    }
}

fn write_thread(text: &mut String, stack: &Stack) {
    let _ = write!(text, "\nthread {:#x}:\n{}", stack.thread, stack.text.trim_end());
}

/// The stack of the thread that a request runs in, on lines of its own; nothing without one.
fn own(seen: &Seen, stacks: &[Stack]) -> String {
    let own = stacks.iter().find(|stack| stack.thread == seen.work.thread);
    own.map_or_else(String::new, |stack| format!("\n{}", stack.text.trim_end()))
}

fn seconds(millis: u64) -> String {
    format!("{:.1} s", Duration::from_millis(millis).as_secs_f64())
}
