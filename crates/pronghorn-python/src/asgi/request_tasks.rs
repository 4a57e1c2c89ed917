//! The tasks of requests, for whoever is not in the event loop's thread.

use std::sync::Arc;

use pronghorn_engine::{RequestTask, Summary};
use pyo3::{intern, prelude::*};

use super::{await_stack::await_stack, raw::Applications};

/// The task of `event_loop` that answers `request`, if there is one.
///
/// # Errors
/// Those of asyncio.
pub(super) fn task_of<'py>(
    event_loop: &Bound<'py, PyAny>,
    applications: &Applications,
    request: &Arc<Summary>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let is_it = |(other, _): &(Arc<Summary>, _)| Arc::ptr_eq(other, request);
    let found = all(event_loop, applications)?.into_iter().find(is_it);
    Ok(found.map(|(_, task)| task))
}

/// The tasks of `event_loop` that answer requests, in the order in which they are told of: the first `most` with where they wait.
///
/// # Errors
/// Those of asyncio.
pub(super) fn request_tasks(
    event_loop: &Bound<'_, PyAny>,
    applications: &Applications,
    most: usize,
) -> PyResult<Vec<RequestTask>> {
    let mut found = all(event_loop, applications)?;
    found.sort_by_cached_key(|(request, _)| request.rank());
    let tasks = found.into_iter().enumerate().map(|(place, (request, task))| {
        let stack = if place < most { await_stack(&task) } else { String::new() };
        RequestTask { request, stack }
    });
    Ok(tasks.collect())
}

fn all<'py>(
    event_loop: &Bound<'py, PyAny>,
    applications: &Applications,
) -> PyResult<Vec<(Arc<Summary>, Bound<'py, PyAny>)>> {
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
    Ok(found)
}
