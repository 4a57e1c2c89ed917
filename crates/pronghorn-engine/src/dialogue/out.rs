//! A dialogue with the loop at hand, for one operation of its response.

use std::sync::MutexGuard;

use pronghorn_proto::encode::{BodySize, BodyWriter, RequestFacts, ResponseFields};

use super::Dialogue;
use super::line::Talk;
use crate::conn::{MOST_KEPT, Piece, Retained, Token};
use crate::date::date_now;
use crate::event_loop::EventLoop;
use crate::exchange::Gone;
use crate::reply::{Reply, keep_unsent, send_with_head};
use crate::request::Request;
use crate::shared::Shared;
use crate::sys;
use crate::watchdog::RequestLine;

/// More output of one dialogue than this does not wait for that of others.
const MOST_OF_ONE: usize = 16 << 10;

/// A dialogue with the loop at hand.
pub(super) struct Out<'a> {
    pub(super) shared: &'a Shared,
    pub(super) event_loop: MutexGuard<'a, EventLoop>,
    pub(super) token: Token,
    pub(super) request: &'a Request,
    pub(super) reply: &'a mut Reply,
    pub(super) head: &'a mut Vec<u8>,
    pub(super) fields: &'a ResponseFields,
    pub(super) label: &'a RequestLine,
}

impl<'a> Out<'a> {
    /// None once the response has ended.
    pub(super) fn of(dialogue: &'a mut Dialogue) -> Option<Self> {
        let request = dialogue.request.as_deref()?;
        Some(Out {
            shared: &dialogue.shared,
            event_loop: dialogue.shared.event_loop(),
            token: dialogue.token,
            request,
            reply: &mut dialogue.reply,
            head: &mut dialogue.head,
            fields: &dialogue.fields,
            label: dialogue.summary.line(),
        })
    }

    pub(super) fn talk(&mut self) -> Option<Talk<'_>> {
        self.event_loop.conns.talk(self.token)
    }

    pub(super) fn facts(&mut self) -> RequestFacts {
        let may_persist = self.talk().is_some_and(|talk| talk.state.may_persist());
        RequestFacts::of(&self.request.head, may_persist && !self.shared.is_draining())
    }

    pub(super) fn make_head(&mut self, status: u16, reason: &[u8], size: BodySize) -> BodyWriter {
        let facts = self.facts();
        if self.head.capacity() == 0 {
            *self.head = self.event_loop.outbox.buffer();
        }
        let date = date_now();
        let server = self.shared.config.server_fields(&date, self.request);
        let line = (status, reason);
        self.reply.make_head(self.head, line, self.fields, size, &facts, &server)
    }

    /// Before anything of the response is sent.
    pub(super) fn begin(&mut self) -> Result<(), Gone> {
        let persistent = self.reply.persistent;
        let talk = self.talk().ok_or(Gone)?;
        if !talk.line.client.takes_output() {
            return Err(Gone);
        }
        if !talk.state.response_has_begun() {
            talk.state.response_started(persistent);
            talk.line.answered();
        }
        Ok(())
    }

    /// Sends `head`, `data` and `end`: what is small at the end of the host's turn, else at once as far as nothing waits and the socket
    /// takes it.
    pub(super) fn send(
        &mut self,
        data: &[u8],
        end: &[u8],
        keep: impl FnOnce() -> Retained,
    ) -> Result<(), Gone> {
        let Out { event_loop, token, reply, head, .. } = self;
        let in_turn = event_loop.host_is_in_turn();
        let talk = event_loop.conns.talk(*token).ok_or(Gone)?;
        reply.sent += data.len() as u64;
        let length = head.len() + data.len() + end.len();
        if length == 0 {
            return Ok(());
        }
        let was_empty = talk.line.output.is_empty();
        if length <= MOST_KEPT && (was_empty && in_turn || talk.line.is_kept) {
            talk.line.output.append([head, data, end]);
            head.clear();
            let is_much = talk.line.output.waiting() > MOST_OF_ONE;
            if !std::mem::replace(&mut talk.line.is_kept, true) {
                event_loop.keep_line(*token);
            }
            if is_much {
                event_loop.flush_kept(*token);
            }
            return Ok(());
        }
        let sent = if was_empty { send_with_head(talk.socket, head, data, end) } else { Ok(0) };
        let Ok(sent) = sent.inspect(|sent| reply.taken += *sent as u64) else { return Err(Gone) };
        keep_unsent(&mut talk.line.output, head, sent, data.len(), end, keep);
        head.clear();
        if was_empty && !talk.line.output.is_empty() {
            event_loop.output_waits(*token);
        }
        Ok(())
    }

    /// Whether a complete response of this much body goes out together with others. It does for as long as the host has a turn.
    pub(super) fn may_be_kept(&mut self, body: usize) -> bool {
        let is_small = self.head.len() + body <= MOST_KEPT;
        is_small
            && self.event_loop.host_is_in_turn()
            && self.talk().is_some_and(|talk| talk.line.output.is_empty())
    }

    /// Sends bytes of the server's own.
    pub(super) fn send_own(&mut self, bytes: &[u8]) {
        let Some(talk) = self.talk() else { return };
        let sent = if talk.line.output.is_empty() {
            sys::send(talk.socket, bytes).unwrap_or_default()
        } else {
            0
        };
        talk.line.output.push(Piece::Owned(bytes.to_vec(), sent));
        self.reply.taken += sent as u64;
    }

    pub(super) fn queue(&mut self, piece: Piece) {
        if let Some(talk) = self.talk()
            && talk.line.client.takes_output()
        {
            talk.line.output.push(piece);
        }
    }
}
