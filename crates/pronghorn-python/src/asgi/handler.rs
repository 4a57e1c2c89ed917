//! What the engine asks of an application with an event loop: where its threads are, and memory for bodies.

use pronghorn_engine::{BodyBuffer, Exchange, Handler, Stack, Work};
use pyo3::prelude::*;

use crate::{attach, interruption::Interruption, logging, raw::BytesBuffer};

/// The engine's way to the interpreter. Requests go another way: see [`Host`](super::host::Host).
pub(super) struct AsgiHandler {
    interruption: Interruption,
}

impl AsgiHandler {
    /// # Errors
    /// `MemoryError`.
    pub(super) fn new(py: Python<'_>) -> PyResult<Self> {
        Ok(AsgiHandler { interruption: Interruption::new(py)? })
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
        self.interruption.stacks(only)
    }

    fn stacks_at_once(&self, only: Option<u64>) -> Vec<Stack> {
        self.interruption.stacks_at_once(only)
    }

    fn interrupt(&self, work: Work) {
        self.interruption.raise_in(work.thread);
    }

    fn forget_interrupt(&self) {
        attach::forget_raised();
    }
}
