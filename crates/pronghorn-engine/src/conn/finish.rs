//! After a response: what is left of it is sent, then the connection reads on, lingers or closes.

use std::io;
use std::os::fd::AsFd;

use pronghorn_proto::state::Next;

use super::{Flushed, Output, Phase, Token, Watched};
use crate::body::{SCRATCH, reserve};
use crate::dialogue::Farewell;
use crate::event_loop::{EventLoop, Job};
use crate::metrics::{Answered, Metrics};
use crate::request::Request;
use crate::sys;

/// How many bytes of a client that was answered early are read and thrown away at the most, a turn.
const DISCARDS_A_TURN: usize = 64;

impl EventLoop {
    /// A request was answered as far as its thread got; `output` is what the socket did not take.
    pub(crate) fn put_back(&mut self, job: Job, output: Output) {
        self.guarded(job.token, |this| this.finish(job, output));
        if !self.excess.is_empty() {
            self.shed_excess();
        }
    }

    pub(super) fn finish(&mut self, job: Job, output: Output) {
        self.in_flight -= 1;
        self.now = sys::monotonic_millis();
        if let Some(metrics) = &self.config.metrics {
            count_answer(metrics, &job.request);
            self.count_lost_lines();
        }
        let Some(conn) = self.conns.get(job.token) else { return };
        conn.socket = Some(job.socket);
        conn.state = job.state;
        if output.is_empty() {
            self.after_response(job.token, job.request);
        } else {
            self.send(job.token, Box::new(output), job.request);
        }
    }

    /// A request is not run, as its client has gone.
    pub(crate) fn abandon(&mut self, job: Job) {
        self.in_flight -= 1;
        self.pool.put(job.request);
        self.close(job.token);
    }

    /// Sends a response, now and when there is room.
    pub(super) fn send(&mut self, token: Token, mut output: Box<Output>, request: Box<Request>) {
        let Some(conn) = self.conns.get(token) else { return };
        let Some(socket) = &conn.socket else { return };
        let flushed = output.flush(socket.as_fd());
        if let Some(metrics) = &self.config.metrics {
            metrics.sent(output.take_sent());
        }
        match flushed {
            Ok(Flushed::All) => {
                conn.state.response_complete();
                self.after_response(token, request);
            }
            Ok(Flushed::Full) => {
                conn.phase = Phase::Writing(output, request);
                self.set_deadline(token, self.config.deadlines.write);
                self.watch(token, Watched::ReadWrite);
            }
            Ok(Flushed::More) => {
                conn.phase = Phase::Writing(output, request);
                self.set_deadline(token, self.config.deadlines.write);
                self.go_on_later(token);
            }
            Err(error) => {
                log::debug!("a response could not be sent: {error}");
                self.pool.put(request);
                self.close(token);
            }
        }
    }

    pub(super) fn resume_writing(&mut self, token: Token) {
        let Some(conn) = self.conns.get(token) else { return };
        match std::mem::replace(&mut conn.phase, Phase::Idle) {
            Phase::Writing(output, request) => self.send(token, output, request),
            other => conn.phase = other,
        }
    }

    /// Throws away what a client still sends after the last response.
    pub(super) fn discard(&mut self, token: Token) {
        for _ in 0..DISCARDS_A_TURN {
            match self.discard_once(token) {
                Ok(0) => return self.close(token),
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if self.draining && self.conns.get(token).is_some_and(|conn| conn.is_settled())
                    {
                        return self.close(token);
                    }
                    return self.watch(token, Watched::Read);
                }
                Err(_) => return self.close(token),
            }
        }
        self.go_on_later(token);
    }

    /// Reads once; what a WebSocket's client says is looked through for its last word.
    fn discard_once(&mut self, token: Token) -> io::Result<usize> {
        let Some(conn) = self.conns.get(token) else { return Ok(0) };
        let Some(socket) = &conn.socket else { return Ok(0) };
        let Phase::Lingering(Some(farewell @ Farewell::Awaited(_))) = &mut conn.phase else {
            return sys::discard(socket);
        };
        self.scratch.clear();
        if reserve(&mut self.scratch, SCRATCH).is_err() {
            return sys::discard(socket);
        }
        let read = sys::recv(socket, &mut self.scratch, SCRATCH)?;
        let limit = self.config.websockets.max_size;
        farewell.hear(&mut self.scratch[..read], limit, &mut self.compression);
        Ok(read)
    }

    fn after_response(&mut self, token: Token, request: Box<Request>) {
        let Some(conn) = self.conns.get(token) else { return };
        match conn.state.after_response(request.has_rest() || conn.noted.readable) {
            Next::ReadNext => self.read_next(token, request),
            Next::Linger => self.linger(token, request),
            Next::CloseNow | Next::Abort => {
                self.pool.put(request);
                self.close(token);
            }
        }
    }

    fn read_next(&mut self, token: Token, mut request: Box<Request>) {
        let Some(conn) = self.conns.get(token) else { return };
        conn.state.next_request();
        conn.answered_at = self.now;
        if request.has_rest() {
            request.restart();
            return match self.is_answering {
                true => self.read_on_later(token, request),
                false => self.continue_reading(token, request),
            };
        }
        conn.phase = Phase::Idle;
        let readable = conn.noted.readable;
        self.pool.put(request);
        let deadlines = &self.config.deadlines;
        let idle = if self.draining { deadlines.drain_idle } else { deadlines.keep_alive };
        self.set_deadline(token, idle);
        if readable { self.read(token) } else { self.watch(token, Watched::Read) }
    }

    fn linger(&mut self, token: Token, mut request: Box<Request>) {
        let Some(conn) = self.conns.get(token) else { return };
        let Some(socket) = &conn.socket else { return };
        sys::shutdown_write(socket);
        conn.phase = Phase::Lingering(request.farewell.take());
        self.pool.put(request);
        let deadlines = &self.config.deadlines;
        let most = if self.draining { deadlines.drain_linger } else { deadlines.linger };
        self.set_deadline(token, most.min(deadlines.linger));
        self.discard(token);
    }
}

fn count_answer(metrics: &Metrics, request: &Request) {
    let Request { timing, answer, head, .. } = request;
    let since_queued = |time: u64| time.saturating_sub(timing.queued);
    let was_run = timing.started > 0;
    metrics.answered(&Answered {
        method: head.method,
        status: answer.status,
        sent: answer.sent,
        times: was_run.then(|| (since_queued(timing.started), since_queued(timing.ended))),
    });
}
