//! What the engine asks of an application with an event loop: where its threads are, and memory for bodies.

use pronghorn_engine::{BodyBuffer, Exchange, Handler, RequestTask, Stack, Work};
use pyo3::prelude::*;

use super::{raw::Applications, request_tasks::request_tasks};
use crate::{attach, interruption::Interruption, logging, raw::BytesBuffer};

/// The engine's way to the interpreter. Requests go another way: see [`Host`](super::host::Host).
pub(super) struct AsgiHandler {
    interruption: Interruption,
    event_loop: Py<PyAny>,
    applications: Applications,
    /// That of the loop.
    thread: u64,
}

impl AsgiHandler {
    /// # Errors
    /// `MemoryError`.
    pub(super) fn new(event_loop: &Bound<'_, PyAny>, applications: Applications) -> PyResult<Self> {
        let py = event_loop.py();
        Ok(AsgiHandler {
            interruption: Interruption::new(py)?,
            event_loop: event_loop.clone().unbind(),
            applications,
            thread: py.import("threading")?.call_method0("get_ident")?.extract()?,
        })
    }

    /// A line that names the task whose code runs; empty for none.
    fn running_task(&self, py: Python<'_>) -> String {
        let task = py
            .import("asyncio")
            .and_then(|asyncio| asyncio.call_method1("current_task", (&self.event_loop,)))
            .and_then(|task| task.repr().map(|text| text.to_string()));
        task.map_or_else(|_| String::new(), |task| format!("  in {task}\n"))
    }
}

impl Handler for AsgiHandler {
    fn thread_stop(&self) {
        attach::leave();
    }

    fn reopen_logs(&self) {
        logging::reopen();
    }

    fn attach(&self) {
        attach::attach();
    }

    fn detach(&self) {
        attach::detach();
    }

    fn handle(&self, exchange: &mut Exchange<'_>) {
        log::error!("{}: came a way that it should not; please report this", exchange.label());
        exchange.fail();
    }

    fn body_buffer(&self, length: usize) -> Option<Box<dyn BodyBuffer>> {
        let buffer = attach::assume(|py| BytesBuffer::new(py, length))?;
        Some(Box::new(buffer))
    }

    fn stacks(&self, only: Option<u64>) -> Vec<Stack> {
        let mut stacks = self.interruption.stacks(only);
        if let Some(stack) = stacks.iter_mut().find(|stack| stack.thread == self.thread) {
            let task = attach::assume(|_| Python::attach(|py| self.running_task(py)));
            stack.text.insert_str(0, &task);
        }
        stacks
    }

    fn stacks_at_once(&self, only: Option<u64>) -> Vec<Stack> {
        self.interruption.stacks_at_once(only)
    }

    fn tasks(&self, most: usize) -> Vec<RequestTask> {
        let tasks = attach::assume(|_| {
            Python::attach(|py| request_tasks(self.event_loop.bind(py), &self.applications, most))
        });
        tasks.unwrap_or_else(|error| {
            log::warn!("the tasks of requests are not to be had: {error}");
            Vec::new()
        })
    }

    fn interrupt(&self, work: Work) {
        self.interruption.raise_in(work.thread);
    }

    fn forget_interrupt(&self) {
        attach::forget_raised();
    }
}
