//! The end of an event loop: whatever the application left in it gets the time that is left, and no more.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use pyo3::{
    intern,
    prelude::*,
    types::{PyDict, PyList},
};

use super::{await_stack::await_stack, event_loop::EventLoop};
use crate::app;

/// What the tasks of requests that are cut get to end, even if no time is left.
const LEAST_OF_TASKS: Duration = Duration::from_millis(500);

/// What the end of the loop gets.
const LEAST: Duration = Duration::from_millis(200);

/// Waits for tasks that were cancelled as their requests are cut. What does not end is told of with the others, at the end of the loop.
pub(super) fn wait_for_cut<'py>(event_loop: &EventLoop<'py>, tasks: &[Bound<'py, PyAny>]) {
    let waited = wait(event_loop, tasks, Instant::now() + LEAST_OF_TASKS, ALL);
    succeeded(event_loop, waited.map(|left| left.is_empty()));
}

/// Ends the loop by `deadline`; see [`EventLoop::end`].
pub(super) fn end(event_loop: &EventLoop<'_>, deadline: Instant) {
    let deadline = deadline.max(Instant::now() + LEAST);
    let steps = [cancel_tasks, end_generators, end_executor];
    let mut is_empty = true;
    for step in steps {
        is_empty &= succeeded(event_loop, step(event_loop, deadline));
    }
    // A loop that is closed over something that is left would only raise in it.
    if is_empty {
        succeeded(event_loop, close(event_loop).map(|()| true));
    }
}

/// Whether threads of the application are left that Python's own end would wait for.
pub(crate) fn is_stuck() -> bool {
    IS_STUCK.load(Ordering::Relaxed)
}

static IS_STUCK: AtomicBool = AtomicBool::new(false);

/// Waits for `awaitables` (tasks and futures) until all are done, or the deadline. Gives those that are not.
pub(super) fn wait<'py>(
    event_loop: &EventLoop<'py>,
    awaitables: &[Bound<'py, PyAny>],
    deadline: Instant,
    until: &str,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let py = event_loop.py();
    if awaitables.is_empty() {
        return Ok(Vec::new());
    }
    let keywords = PyDict::new(py);
    keywords
        .set_item("timeout", deadline.saturating_duration_since(Instant::now()).as_secs_f64())?;
    keywords.set_item("return_when", until)?;
    let awaitables = PyList::new(py, awaitables)?;
    let waiting = py.import("asyncio")?.call_method("wait", (&awaitables,), Some(&keywords))?;
    event_loop.complete(&waiting)?;
    let mut left = Vec::new();
    for one in &awaitables {
        if !one.call_method0(intern!(py, "done"))?.is_truthy()? {
            left.push(one);
        }
    }
    Ok(left)
}

pub(super) const ALL: &str = "ALL_COMPLETED";
pub(super) const FIRST: &str = "FIRST_COMPLETED";

fn succeeded(event_loop: &EventLoop<'_>, outcome: PyResult<bool>) -> bool {
    outcome.unwrap_or_else(|error| {
        let why = app::one_line(event_loop.py(), &error);
        log::warn!("the event loop could not be ended as it should: {why}");
        false
    })
}

fn cancel_tasks(event_loop: &EventLoop<'_>, deadline: Instant) -> PyResult<bool> {
    let py = event_loop.py();
    let tasks = py.import("asyncio")?.call_method1("all_tasks", (event_loop.object(),))?;
    let tasks = tasks.try_iter()?.collect::<PyResult<Vec<_>>>()?;
    event_loop.own(&tasks);
    for task in &tasks {
        task.call_method0("cancel")?;
    }
    // What comes after needs time as well.
    let half = deadline.saturating_duration_since(Instant::now()) / 2;
    let left = wait(event_loop, &tasks, Instant::now() + half, ALL)?;
    for task in &left {
        log::warn!(
            "a task of the application does not end, though it was cancelled\n{}",
            await_stack(task).trim_end()
        );
    }
    tasks.iter().try_for_each(|task| report(event_loop, task))?;
    Ok(left.is_empty())
}

/// Tells of what a task raised instead of ending as it was asked to, in the way the loop does.
fn report(event_loop: &EventLoop<'_>, task: &Bound<'_, PyAny>) -> PyResult<()> {
    let is = |what: &str| task.call_method0(what)?.is_truthy();
    if !is("done")? || is("cancelled")? {
        return Ok(());
    }
    let exception = task.call_method0("exception")?;
    if exception.is_none() {
        return Ok(());
    }
    let context = PyDict::new(task.py());
    context.set_item("message", "a task failed when it was cancelled at the end of the server")?;
    context.set_item("exception", exception)?;
    context.set_item("task", task)?;
    event_loop.object().call_method1("call_exception_handler", (context,)).map(drop)
}

fn end_generators(event_loop: &EventLoop<'_>, deadline: Instant) -> PyResult<bool> {
    let ended = run(event_loop, "shutdown_asyncgens", deadline)?;
    if !ended {
        log::warn!("an asynchronous generator of the application does not end");
    }
    Ok(ended)
}

fn end_executor(event_loop: &EventLoop<'_>, deadline: Instant) -> PyResult<bool> {
    let ended = run(event_loop, "shutdown_default_executor", deadline)?;
    if !ended {
        log::warn!(
            "a thread that the application started by run_in_executor or to_thread does not end"
        );
        IS_STUCK.store(true, Ordering::Relaxed);
    }
    Ok(ended)
}

/// Runs a coroutine method of the loop; whether it came to its end.
fn run(event_loop: &EventLoop<'_>, method: &str, deadline: Instant) -> PyResult<bool> {
    let object = event_loop.object();
    let task = object.call_method1("create_task", (object.call_method0(method)?,))?;
    Ok(wait(event_loop, &[task], deadline, ALL)?.is_empty())
}

fn close(event_loop: &EventLoop<'_>) -> PyResult<()> {
    let py = event_loop.py();
    event_loop.object().call_method0("close")?;
    py.import("asyncio")?.call_method1("set_event_loop", (py.None(),)).map(drop)
}
