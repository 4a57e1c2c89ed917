//! Where a task waits: the calls from its coroutine down to what it awaits.

use pyo3::{intern, prelude::*};

use crate::interruption::call_text;

/// The calls of a task, the latest last, as `traceback` writes them; asyncio itself tells only the first. Empty for anything but a task.
pub(crate) fn await_stack(task: &Bound<'_, PyAny>) -> String {
    let mut calls = Vec::new();
    // What is told until something goes wrong is worth telling.
    let _ = collect(task.clone(), &mut calls);
    calls.concat()
}

/// A chain longer than this is cut: it may have no end.
const MOST_CALLS: usize = 100;

fn collect(task: Bound<'_, PyAny>, calls: &mut Vec<String>) -> PyResult<()> {
    let mut next = Some(task);
    while let Some(task) = next {
        let mut awaited = task.call_method0(intern!(task.py(), "get_coro")).ok();
        while let Some(awaitable) = awaited {
            awaited = step(&awaitable, calls)?;
        }
        next = waited_for(&task)?.filter(|_| calls.len() < MOST_CALLS);
    }
    Ok(())
}

/// Notes where `awaitable` is in its code and gives what it awaits; `None` when it has no code.
fn step<'py>(
    awaitable: &Bound<'py, PyAny>,
    calls: &mut Vec<String>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    // Coroutines, generators that are used as such, and asynchronous generators.
    for (frame, inner) in
        [("cr_frame", "cr_await"), ("gi_frame", "gi_yieldfrom"), ("ag_frame", "ag_await")]
    {
        let Some(frame) = awaitable.getattr_opt(frame)? else { continue };
        if frame.is_none() || calls.len() >= MOST_CALLS {
            return Ok(None);
        }
        calls.push(call_text(&frame)?);
        return Ok(Some(awaitable.getattr(inner)?).filter(|inner| !inner.is_none()));
    }
    Ok(None)
}

/// The task that `task` waits for, if it waits for one.
fn waited_for<'py>(task: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let future = task.getattr_opt(intern!(task.py(), "_fut_waiter"))?;
    Ok(future.filter(|future| future.hasattr(intern!(task.py(), "get_coro")).unwrap_or(false)))
}
