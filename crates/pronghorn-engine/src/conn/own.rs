//! Requests that the server answers itself, as soon as their heads are complete.

use pronghorn_proto::encode::RequestFacts;
use pronghorn_proto::framing::Framing;

use super::{Output, Phase, Piece, Token};
use crate::date::date_now;
use crate::event_loop::EventLoop;
use crate::own::Asked;
use crate::request::Request;

impl EventLoop {
    /// What a request asks the server itself, if it does.
    #[inline]
    pub(super) fn asked(&self, token: Token, request: &Request) -> Option<Asked> {
        if !self.answers_itself {
            return None;
        }
        let listener = self.conns.listener_of(token)?;
        let for_metrics = self.metrics_listeners.contains(&listener);
        Asked::of(&self.config, &request.head, &request.buffer, for_metrics)
    }

    /// Answers a request to the server itself. A body is not wanted: the connection closes behind it.
    pub(super) fn answer_itself(&mut self, token: Token, request: Box<Request>, asked: Asked) {
        let unready = self.unready();
        let Some(conn) = self.conns.get(token) else { return };
        if !matches!(request.head.framing, Framing::None | Framing::Length(0)) {
            conn.state.request_failed();
        }
        let persistent = conn.state.may_persist() && !self.draining;
        let facts = RequestFacts::of(&request.head, persistent);
        conn.state.response_started(facts.persistent);
        self.count_lost_lines();
        let answer = asked.answer(&self.config, request.head.method, unready);
        let date = date_now();
        let response = answer.encode(&facts, &self.config.server_fields(&date, &request));
        let mut output = Output::default();
        output.push(Piece::Owned(response, 0));
        self.is_answering = true;
        self.send(token, Box::new(output), request);
        self.is_answering = false;
    }

    /// What was pipelined behind a request that the server answered itself is looked at in a later turn: many of them would else
    /// be answered one inside the other.
    pub(super) fn read_on_later(&mut self, token: Token, request: Box<Request>) {
        self.head_started(token);
        let Some(conn) = self.conns.get(token) else { return };
        conn.phase = Phase::Head(request);
        self.go_on_later(token);
    }

    /// Tells the metrics what the access log has lost.
    pub(super) fn count_lost_lines(&self) {
        if let (Some(metrics), Some(access)) = (&self.config.metrics, &self.config.access) {
            metrics.set_lines_lost(access.lost());
        }
    }

    fn unready(&self) -> Option<&'static str> {
        if self.draining { Some("draining") } else { self.health.is_failing().then_some("failing") }
    }
}
