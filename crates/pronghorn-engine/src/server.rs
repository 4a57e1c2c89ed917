//! The server: put together, run, drained.

use std::io;
use std::sync::Arc;

use crate::config::Config;
use crate::control::{Control, Orders};
use crate::early::Kept;
use crate::event_loop::{EventLoop, WAKER};
use crate::handler::Handler;
use crate::listener::Listener;
use crate::metrics::WorkerState;
use crate::sched::{EngineThread, FIRST, LAST_WORDS, Sched, start_monitor};
use crate::shared::Shared;
use crate::sys::{Selector, Waker, raise_descriptor_limit};
use crate::watchdog::{Watch, start_watchdog};

/// A server ready to run: its listeners accept into their backlogs already.
pub struct Server {
    shared: Arc<Shared>,
    kept: Vec<Kept>,
}

/// Ends a running server, from any thread.
#[derive(Clone)]
pub struct ServerHandle {
    shared: Arc<Shared>,
}

impl Server {
    /// Puts a server together. Unless `control` is [`Control::Nobody`], a drain that takes longer than the graceful timeout ends
    /// the process.
    ///
    /// Raises the process's soft limit of open descriptors to the hard limit.
    ///
    /// # Errors
    /// The system's, when it has no descriptors left.
    pub fn new(
        mut config: Config,
        listeners: Vec<Listener>,
        handler: Arc<dyn Handler>,
        control: Control,
    ) -> io::Result<Self> {
        raise_descriptor_limit();
        let selector = Arc::new(Selector::new()?);
        let waker = Waker::new(&selector, WAKER)?;
        let orders = Orders::new(control, &selector)?;
        let numbered = listeners.iter().enumerate();
        let locals: Vec<_> = numbered.map(|(index, listener)| listener.local(index)).collect();
        config.timed |= config.metrics.is_some();
        let sched = Sched::new(config.threads.max(1), FIRST);
        config.prepare_logs(&locals);
        let event_loop = EventLoop::new(Arc::new(config), handler, selector, listeners)?;
        let watch = Watch::new(orders.own_the_process())?;
        let shared = Shared::new(event_loop, sched, waker, locals, orders, watch);
        Ok(Server { shared: Arc::new(shared), kept: Vec::new() })
    }

    /// A handle to end it by.
    pub fn handle(&self) -> ServerHandle {
        ServerHandle { shared: self.shared.clone() }
    }

    /// Takes in the connections that [`Early`](crate::Early) kept, as soon as it serves.
    pub fn adopt(&mut self, kept: Vec<Kept>) {
        self.kept = kept;
    }

    pub(crate) fn into_parts(self) -> (Arc<Shared>, Vec<Kept>) {
        (self.shared, self.kept)
    }

    /// Serves until drained, with the calling thread as the first leader.
    ///
    /// # Errors
    /// A thread to watch over the others could not be started.
    pub fn run(self) -> io::Result<()> {
        let watchdog_ended = start_watchdog(&self.shared)?;
        if !self.shared.single() {
            start_monitor(&self.shared)?;
        }
        if let Some(metrics) = &self.shared.config.metrics {
            metrics.set_state(WorkerState::Ready);
        }
        self.shared.event_loop().adopt(self.kept);
        EngineThread::new(self.shared.clone(), FIRST).run_as_leader();
        self.shared.watch.stop();
        // It may wait for an interpreter that is not to be had.
        let _ = watchdog_ended.recv_timeout(LAST_WORDS);
        self.shared.config.close_logs();
        Ok(())
    }
}

impl ServerHandle {
    /// Begins a drain: accepting stops, requests in flight are answered, then [`Server::run`] returns.
    pub fn drain(&self) {
        self.shared.drain();
    }

    /// The health check fails from now on; nothing else changes.
    pub fn fail_health(&self) {
        self.shared.health.fail();
    }

    /// Writes to the log what all threads are doing and which requests they serve, whatever they are busy with.
    pub fn print_stacks(&self) {
        self.shared.request_stacks();
    }

    /// Begins a drain that is over within a second, or hurries one that has begun: what takes longer is cut.
    pub fn stop(&self) {
        self.shared.stop();
    }
}
