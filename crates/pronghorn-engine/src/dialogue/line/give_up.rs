//! The answer to a client in the place of an application that is over its time, while the host is stuck and cannot tell it.

use pronghorn_proto::encode::error_response;

use super::Client;
use crate::conn::{Piece, Token};
use crate::date::date_now;
use crate::event_loop::EventLoop;
use crate::sys;
use crate::watchdog::LATE;

impl EventLoop {
    /// Answers the client, unless the response has begun. To the application, the client has gone from here on.
    pub(super) fn give_up(&mut self, token: Token) {
        let Some(talk) = self.conns.talk(token) else { return };
        if talk.state.response_has_begun() || !talk.line.client.takes_output() {
            return;
        }
        let summary = talk.line.summary.clone();
        let (mut response, date) = (Vec::new(), date_now());
        let server = self.config.server_fields_for(&date, summary.id());
        let body = error_response(&mut response, &LATE, summary.facts(), &server);
        summary.note_given_up(body);
        talk.state.response_started(false);
        talk.line.output.push(Piece::Owned(response, 0));
        self.flush_line(token);
        let Some(talk) = self.conns.talk(token) else { return };
        if talk.line.output.is_empty() {
            sys::shutdown_write(talk.socket);
        }
        talk.line.client = Client::Gone;
        self.stir(token);
        self.for_host(|host| host.given_up.push(summary));
    }
}
