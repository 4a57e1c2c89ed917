//! One request being answered: what a handler gets of it, and how its response goes out.

mod receive;
mod response;
mod wait;

use std::mem;

use pronghorn_proto::encode::ResponseFields;
use pronghorn_proto::error::Error;
use pronghorn_proto::head::RequestHead;

use crate::access::Entry;
use crate::address::{Local, Peer};
use crate::body::Body;
use crate::client::{Client, Forwarded, Proxies};
use crate::conn::Output;
use crate::event_loop::Job;
use crate::reply::Reply;
use crate::request::{Answer, BodyState};
use crate::sched::EngineThread;
use crate::sys;

pub use response::{Gone, WriteError};

/// A request and its response, for the time a handler has them.
///
/// A response is either [`respond`](Exchange::respond), which sends all of it, or [`start`](Exchange::start), any number of
/// [`write`](Exchange::write) or [`send_file`](Exchange::send_file), and [`finish`](Exchange::finish). Its fields are put into
/// [`fields`](Exchange::fields) before.
pub struct Exchange<'a> {
    thread: &'a mut EngineThread,
    job: Job,
    output: Output,
    reply: Reply,
    /// Why the body did not arrive, once the handler was told.
    refused: Option<Error>,
}

impl<'a> Exchange<'a> {
    pub(crate) fn new(thread: &'a mut EngineThread, job: Job) -> Self {
        thread.fields.clear();
        Exchange { thread, job, output: Output::default(), reply: Reply::default(), refused: None }
    }

    /// The request's head. Its spans are offsets into [`head_bytes`](Exchange::head_bytes).
    pub fn head(&self) -> &RequestHead {
        &self.job.request.head
    }

    /// The bytes of the request's head, as they came.
    pub fn head_bytes(&self) -> &[u8] {
        &self.job.request.buffer[..self.job.request.head_length]
    }

    /// Who sent it.
    pub fn peer(&self) -> Peer {
        self.job.peer
    }

    /// For whom it is made: who sent it, or whom trusted proxies name.
    pub fn client(&self) -> Client {
        self.job.request.client(self.job.peer, self.proxies())
    }

    /// All that trusted proxies say of it.
    pub fn forwarded(&self) -> Forwarded<'_> {
        let forwarded = self.proxies().forwarded(self.head(), self.head_bytes(), self.job.peer);
        if forwarded.client != Client::from(self.job.peer) {
            self.thread.slot.note_client(forwarded.client);
        }
        forwarded
    }

    /// Whom the server believes.
    pub fn proxies(&self) -> &Proxies {
        &self.thread.shared.config.proxies
    }

    /// Its identifier; `None` if requests get none.
    pub fn request_id(&self) -> Option<&[u8]> {
        self.job.request.id()
    }

    /// The W3C's trace context that it came with, if it is valid.
    pub fn traceparent(&self) -> Option<&[u8]> {
        self.job.request.traceparent()
    }

    /// The listener it came in by.
    pub fn local(&self) -> &Local {
        &self.thread.shared.locals[self.job.listener as usize]
    }

    /// Names the connection: a small number that is used again for later connections, and which of those it is.
    pub fn slot(&self) -> (u32, u32) {
        (self.job.token.index, self.job.token.generation)
    }

    /// The request's body; [`Body::None`] when it was taken before.
    pub fn take_body(&mut self) -> Body {
        let request = &mut *self.job.request;
        match mem::replace(&mut request.body, BodyState::None) {
            BodyState::None => Body::None,
            BodyState::InBuffer => {
                Body::Memory(request.buffer[request.head_length..request.consumed].to_vec())
            }
            BodyState::Complete(body) => body,
            waiting @ (BodyState::Arriving(_) | BodyState::Expected(_)) => {
                request.body = waiting;
                Body::Expected
            }
        }
    }

    /// The fields of the response, empty at first.
    pub fn fields(&mut self) -> &mut ResponseFields {
        &mut self.thread.fields
    }

    /// Whether the head of the response is on its way: nothing of it can change any more.
    pub fn started(&self) -> bool {
        self.reply.has_started()
    }

    /// Whether the request has taken longer than it may: nothing of the response goes out any more.
    pub fn is_overdue(&self) -> bool {
        self.thread.slot.is_overdue()
    }

    /// The end of the handler's part: what it left undone is failed.
    pub(crate) fn end(mut self) -> (Job, Output) {
        self.fail();
        let config = &self.thread.shared.config;
        if config.timed {
            self.job.request.timing.ended = sys::monotonic_micros();
        }
        if config.metrics.is_some() {
            let sent = self.reply.taken + self.output.take_sent();
            self.job.request.answer = Answer { status: self.reply.status, sent };
        }
        self.thread.shared.count_answer();
        if self.thread.shared.config.logs_answers() {
            self.thread.shared.config.log_answer(&Entry {
                client: self.client(),
                request: &self.job.request,
                listener: self.job.listener,
                fields: Some(&self.thread.fields),
                status: self.reply.status,
                bytes: self.reply.sent,
            });
        }
        (self.job, self.output)
    }
}
