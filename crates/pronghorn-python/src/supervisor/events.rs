//! What the workers say, and their ends.

use pronghorn_engine::{Order, WorkerState};

use super::Supervisor;
use super::channel::Message;
use super::fleet::{Cause, End, Id};
use super::process::{Ended, told};
use crate::serve::announce_start;

impl Supervisor {
    pub(super) fn see_to_workers(&mut self) {
        for (id, message) in self.processes.hear() {
            self.heard(id, message);
        }
        while let Some(ended) = self.processes.next_ended() {
            // Its last words came before.
            if let Ended { worker: Some((id, process)), .. } = &ended {
                while let Some(message) = process.channel.hear() {
                    self.heard(*id, message);
                }
            }
            self.see_to_end(ended);
        }
    }

    fn heard(&mut self, id: Id, message: Message) {
        let now = self.now();
        match message {
            Message::Ready => {
                if !self.announced && self.fleet.serving_ids().next().is_none() {
                    announce_start();
                }
                let retires_at = self.configuration.lifetime().map(|life| now.saturating_add(life));
                self.fleet.ready(id, now, retires_at);
                self.note_state(id, WorkerState::Ready);
                if self.ends_at.is_some() {
                    // The others have been told.
                    self.processes.tell(id, Order::FailHealth);
                }
                if let Some(pid) = self.processes.pid(id) {
                    log::info!("worker {pid} is ready");
                }
            }
            Message::Failed(text) => self.start_failed(id, &text),
            Message::Asks(reason) => {
                self.settled = false;
                self.fleet.asked(id, reason);
            }
        }
    }

    /// Told once, though it may have happened to every worker that was started together.
    fn start_failed(&mut self, id: Id, text: &str) {
        if let Some(process) = self.processes.get_mut(id) {
            process.has_failed = true;
        }
        self.fleet.failed(id);
        if self.fleet.start_is_vital() {
            // The command ends with it.
            self.failure.get_or_insert_with(|| text.to_owned());
        } else {
            log::error!("a worker could not start: {text}");
        }
    }

    fn see_to_end(&mut self, ended: Ended) {
        let Ended { worker: Some((id, process)), pid, status } = ended else {
            log::debug!("process {} has ended", ended.pid);
            return;
        };
        self.settled = false;
        self.retire(process.block);
        let now = self.now();
        let how = told(status);
        match self.fleet.ended(id, now) {
            End::Told if status.exit_status() == Some(0) => log::info!("worker {pid} has ended"),
            End::Told => {
                self.was_cut |= status.exit_status() == Some(1) && self.fleet.ending().is_some();
                log::warn!("worker {pid} {how} while it was ending");
            }
            End::Abandoned => {
                log::debug!("worker {pid} {how} before it was ready, as it was told to")
            }
            End::Cut => self.was_cut |= self.fleet.ending().is_some(),
            End::Crash => log::error!("worker {pid} {how} while it served; {}", self.next_try(now)),
            End::Start(Cause::Reload) => {
                log::error!(
                    "worker {pid} {how} before it was ready; the reload is given up, and the old workers stay"
                );
            }
            End::Start(_) if self.fleet.ending().is_some() => {
                self.failure
                    .get_or_insert_with(|| format!("a worker {how} before it was ready. {SEE}"));
            }
            End::Start(_) if process.has_failed => log::info!("{}", self.next_try(now)),
            End::Start(_) => {
                log::error!("worker {pid} {how} before it was ready; {}", self.next_try(now));
            }
            End::Unknown => {}
        }
    }

    /// What comes after a worker that has failed.
    fn next_try(&self, now: u64) -> String {
        match self.fleet.pause(now) {
            0 => "another one is started".to_owned(),
            pause => format!(
                "the next one is started in {} s, as they end again and again",
                pause.div_ceil(1000)
            ),
        }
    }

    pub(super) fn see_to_memory(&mut self, now: u64) {
        if now < self.memory_seen_at + super::MEMORY_LOOKS {
            return;
        }
        self.memory_seen_at = now;
        for id in self.processes.too_large() {
            self.settled = false;
            self.fleet.asked(id, pronghorn_engine::Reason::Memory);
        }
    }
}

const SEE: &str =
    "Something ended it while it imported the application. See what that does when it is imported.";
