//! Answers the server gives itself: a refusal, after which the connection closes.

use std::io;

use pronghorn_proto::encode::{Refusal, RequestFacts, error_response};
use pronghorn_proto::error::Error;
use pronghorn_proto::head::Method;

use super::{Output, Piece, Token};
use crate::date::date_now;
use crate::event_loop::EventLoop;
use crate::request::Request;

impl EventLoop {
    /// Refuses what was read of a request.
    pub(crate) fn refuse(&mut self, token: Token, request: Box<Request>, error: Error) {
        self.refuse_with(token, request, &error.into());
    }

    /// Refuses a body that the disk has no room for.
    pub(crate) fn refuse_for_storage(
        &mut self,
        token: Token,
        request: Box<Request>,
        error: &io::Error,
    ) {
        log::error!(
            "a request body could not be stored in {}: {error}; the client got 503",
            self.config.temporary_directory.display()
        );
        self.refuse_with(token, request, &NO_ROOM);
    }

    /// Refuses a head that there is no memory for.
    pub(crate) fn refuse_for_memory(&mut self, token: Token, request: Box<Request>) {
        log::error!("there was no memory for a request's head; the client got 503");
        self.refuse_with(token, request, &NO_MEMORY);
    }

    fn refuse_with(&mut self, token: Token, mut request: Box<Request>, refusal: &Refusal) {
        self.identify(token, &mut request);
        let date = date_now();
        let server = self.config.server_fields(&date, &request);
        let facts = RequestFacts::of(&request.head, false);
        let mut response = Vec::new();
        let bytes = error_response(&mut response, refusal, facts, &server);
        let Some(conn) = self.conns.get(token) else { return };
        let by = (conn.peer, conn.listener);
        self.config.log_own_answer(&request, by, refusal.status, bytes);
        if let Some(metrics) = &self.config.metrics {
            metrics.refused(method_of(&request), refusal.status);
        }
        conn.state.request_failed();
        conn.state.response_started(false);
        let mut output = Output::default();
        output.push(Piece::Owned(response, 0));
        self.send(token, Box::new(output), request);
    }
}

/// Its method, as far as it was read.
fn method_of(request: &Request) -> Method {
    if request.head.method_span.is_empty() { Method::Other } else { request.head.method }
}

const NO_MEMORY: Refusal = Refusal {
    status: 503,
    message: "The server has no memory for this request; try again later.",
    fields: &[],
};

const NO_ROOM: Refusal = Refusal {
    status: 503,
    message: "The server has no room for this request body; try again later.",
    fields: &[],
};
