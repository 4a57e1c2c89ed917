//! The tasks of requests, for whoever is not in the event loop's thread.

use pronghorn_engine::RequestTask;
use pyo3::{intern, prelude::*};

use super::{await_stack::await_stack, raw::Applications};

/// The tasks of `event_loop` that answer requests, in the order in which they are told of: the first `most` with where they wait.
///
/// # Errors
/// Those of asyncio.
pub(super) fn request_tasks(
    event_loop: &Bound<'_, PyAny>,
    applications: &Applications,
    most: usize,
) -> PyResult<Vec<RequestTask>> {
    let py = event_loop.py();
    let all = py.import("asyncio")?.call_method1("all_tasks", (event_loop,))?;
    let mut found = Vec::new();
    for task in all.try_iter()? {
        let task = task?;
        let coroutine = task.call_method0(intern!(py, "get_coro"))?;
        if let Some(request) = applications.request_of(&coroutine) {
            found.push((request, task));
        }
    }
    found.sort_by_cached_key(|(request, _)| request.rank());
    let tasks = found.into_iter().enumerate().map(|(place, (request, task))| {
        let stack = if place < most { await_stack(&task) } else { String::new() };
        RequestTask { request, stack }
    });
    Ok(tasks.collect())
}
