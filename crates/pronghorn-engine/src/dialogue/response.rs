//! Sending the response: at the end of the turn or at once, and by the loop what the socket does not take.

use std::fs::File;

use pronghorn_proto::encode::{
    BodySize, End, LAST_CHUNK, Refusal, RequestFacts, ResponseFields, error_response,
};
use pronghorn_proto::error::Error;

use super::Dialogue;
use super::out::Out;
use crate::access::Entry;
use crate::address::Peer;
use crate::conn::{Output, Phase, Piece, Retained, Token};
use crate::date::date_now;
use crate::event_loop::{EventLoop, Job};
use crate::exchange::Gone;
use crate::reply::{FAILED, Reply, Stage, push_file, put_chunk_head};
use crate::request::{Answer, Request};
use crate::sys;
use crate::watchdog::LATE;

/// Whether an application may go on sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// It may.
    Free,
    /// The client does not keep up: the dialogue is stirred when there is room.
    Full,
}

impl Dialogue {
    /// Sends a complete response whose body is `body`. `reason`: free of control bytes. `keep` is asked for an owner of the same
    /// bytes only when the socket does not take all of them at once.
    ///
    /// # Errors
    /// The client is gone. The response counts as ended either way.
    pub fn respond(
        &mut self,
        status: u16,
        reason: &[u8],
        body: &[u8],
        keep: impl FnOnce() -> Retained,
    ) -> Result<(), Gone> {
        let Some(mut out) = Out::of(self) else { return Err(Gone) };
        let mut writer = out.make_head(status, reason, BodySize::Known(body.len() as u64));
        let admitted = writer.admit(body.len());
        out.reply.stage = Stage::Body(writer);
        if writer.finish().is_ok() && out.may_be_kept(admitted) && out.begin().is_ok() {
            out.reply.sent += admitted as u64;
            out.head.extend_from_slice(&body[..admitted]);
            let response = std::mem::take(out.head);
            drop(out);
            self.release_with(response);
            return Ok(());
        }
        let sent = out.begin().and_then(|()| out.send(&body[..admitted], b"", keep));
        drop(out);
        match sent {
            Ok(()) => self.finish(),
            Err(Gone) => self.lose(),
        }
        sent
    }

    /// Begins a response. Its head goes out with the first bytes of the body, or at the end.
    pub fn start(&mut self, status: u16, reason: &[u8], size: BodySize) {
        let Some(mut out) = Out::of(self) else { return };
        let writer = out.make_head(status, reason, size);
        out.reply.stage = Stage::Head(writer);
    }

    /// Sends a part of the body, or has it sent. What exceeds the Content-Length is left out; so is any body where the response has
    /// none.
    ///
    /// # Errors
    /// The client is gone. The response counts as ended then.
    pub fn write(&mut self, data: &[u8], keep: impl FnOnce() -> Retained) -> Result<Room, Gone> {
        let Some((mut writer, with_head)) = self.reply.take_writer() else { return Err(Gone) };
        let admitted = writer.admit(data.len());
        let chunked = writer.is_chunked() && admitted > 0;
        self.reply.stage = Stage::Body(writer);
        let Some(mut out) = Out::of(self) else { return Err(Gone) };
        if !with_head {
            out.head.clear();
        }
        if chunked {
            put_chunk_head(out.head, admitted);
        }
        let end: &[u8] = if chunked { b"\r\n" } else { b"" };
        let sent = out.begin().and_then(|()| out.send(&data[..admitted], end, keep));
        drop(out);
        if sent.is_err() {
            self.lose();
        }
        sent.and_then(|()| self.room())
    }

    /// Sends `length` bytes of `file` from `offset` on, as a part of the body.
    ///
    /// # Errors
    /// The client is gone. The response counts as ended then.
    pub fn send_file(&mut self, file: File, offset: u64, length: u64) -> Result<Room, Gone> {
        let Some((mut writer, with_head)) = self.reply.take_writer() else { return Err(Gone) };
        let length = writer.admit(usize::try_from(length).unwrap_or(usize::MAX)) as u64;
        let chunked = writer.is_chunked() && length > 0;
        self.reply.stage = Stage::Body(writer);
        let Some(mut out) = Out::of(self) else { return Err(Gone) };
        if out.begin().is_err() {
            drop(out);
            self.lose();
            return Err(Gone);
        }
        let head = if with_head { out.head.clone() } else { Vec::new() };
        if let Some(talk) = out.talk() {
            push_file(&mut talk.line.output, head, (file, offset, length), chunked);
        }
        out.reply.sent += length;
        out.event_loop.flush_line(out.token);
        drop(out);
        self.room()
    }

    /// Sends an interim response with the fields so far, which are forgotten then (RFC 9110 section 15.2, RFC 8297). A client of
    /// HTTP/1.0 gets none (section 15.2).
    pub fn inform(&mut self, status: u16, reason: &[u8]) {
        let is_fresh = matches!(self.reply.stage, Stage::Fresh);
        let may = self.head().is_some_and(|head| RequestFacts::of(head, true).http11);
        if !is_fresh || !may {
            return self.fields.clear();
        }
        let mut interim = format!("HTTP/1.1 {status} ").into_bytes();
        interim.extend_from_slice(reason);
        interim.extend_from_slice(b"\r\n");
        interim.extend_from_slice(self.fields.bytes());
        interim.extend_from_slice(b"\r\n");
        self.fields.clear();
        if let Some(mut out) = Out::of(self) {
            out.queue(Piece::Owned(interim, 0));
            out.event_loop.flush_line(out.token);
        }
    }

    /// Ends the response, with `trailers` if it is chunked. One that is shorter than its Content-Length cannot be mended: the connection
    /// is aborted.
    pub fn finish_with(&mut self, trailers: &ResponseFields) {
        let Some((writer, with_head)) = self.reply.take_writer() else { return };
        let Some(mut out) = Out::of(self) else { return };
        if with_head {
            if out.begin().is_err() {
                drop(out);
                return self.lose();
            }
            let head = out.head.clone();
            out.send_own(&head);
        }
        match writer.finish() {
            Ok(End::LastChunk) if trailers.bytes().is_empty() => out.send_own(LAST_CHUNK),
            Ok(End::LastChunk) => {
                let end = [b"0\r\n", trailers.bytes(), b"\r\n"].concat();
                out.send_own(&end);
            }
            Ok(End::Complete) => {}
            Err(short) => {
                log::error!("{}: {short}; its connection is cut", out.label);
                drop(out);
                return self.abort();
            }
        }
        drop(out);
        self.release();
    }

    /// Ends the response.
    pub fn finish(&mut self) {
        self.finish_with(&ResponseFields::default());
    }

    /// The application failed: 500 if nothing was sent, else the connection is aborted. After the end of the response it changes
    /// nothing.
    pub fn fail(&mut self) {
        if self.is_done() {
            // The connection may be at another request by now.
            return;
        }
        let refused = self.refused();
        if refused.is_some() {
            // Whoever ended its side within a body may still read why that is no request.
            self.shared.event_loop().takes_refusal(self.token);
        }
        self.refuse(&refused.map_or(FAILED, Refusal::from));
    }

    /// The same, of an application that took too long.
    pub fn fail_late(&mut self) {
        self.refuse(&LATE);
    }

    /// The same with a text of `content_type` in the place of the server's own.
    pub fn fail_with(&mut self, content_type: &[u8], text: &[u8]) {
        if !self.is_open() || self.refused().is_some() {
            return self.fail();
        }
        self.fields.clear();
        if self.fields.push(b"Content-Type", content_type).is_err() {
            return self.fail();
        }
        self.reply.stage = Stage::Fresh;
        // A client that has gone needs no answer.
        let _ = self.respond(500, b"Internal Server Error", text, || Box::new(text.to_vec()));
    }

    /// Whether nothing of the final response has been sent.
    pub fn is_open(&self) -> bool {
        matches!(self.reply.stage, Stage::Fresh | Stage::Head(_))
    }

    /// Whether the response has ended.
    pub fn is_done(&self) -> bool {
        matches!(self.reply.stage, Stage::Done)
    }

    /// Whether the application may go on sending.
    ///
    /// # Errors
    /// The client is gone, or the response has ended.
    pub fn room(&mut self) -> Result<Room, Gone> {
        if self.request.is_none() {
            // The connection may be at another request by now.
            return Err(Gone);
        }
        match self.shared.event_loop().room(self.token) {
            Some(true) => Ok(Room::Free),
            Some(false) => Ok(Room::Full),
            None => Err(Gone),
        }
    }

    /// Sends a response of the server's own, or cuts the one that has begun.
    fn refuse(&mut self, refusal: &Refusal) {
        match self.reply.stage {
            Stage::Done => return,
            Stage::Body(_) => return self.abort(),
            Stage::Switched => return self.fail_websocket(),
            Stage::Fresh | Stage::Head(_) => {}
        }
        self.fields.clear();
        let Some(mut out) = Out::of(self) else { return };
        if out.begin().is_err() {
            drop(out);
            return self.abort();
        }
        let facts = out.facts();
        let date = date_now();
        let server = out.shared.config.server_fields(&date, out.request);
        let mut response = Vec::new();
        out.reply.sent = error_response(&mut response, refusal, facts, &server);
        out.reply.status = refusal.status;
        out.queue(Piece::Owned(response, 0));
        drop(out);
        self.release();
    }

    /// Why the body did not arrive, if that is so.
    fn refused(&self) -> Option<Error> {
        self.shared.event_loop().body_fault(self.token)
    }

    /// The client has gone before it had its response. The application may go on for a while.
    pub(super) fn lose(&mut self) {
        if self.request.is_some() {
            self.leave_to_grace();
        }
        self.abort();
    }

    /// The same, of any dialogue that is about to end.
    pub(super) fn leave_to_grace(&mut self) {
        self.grace_due = self.shared.event_loop().leave_to_grace(self.token, &self.summary);
    }

    /// Ends the response where it is, and the connection.
    pub fn abort(&mut self) {
        self.reply.stage = Stage::Done;
        {
            let mut event_loop = self.shared.event_loop();
            // What was sent before counts as sent.
            event_loop.flush_kept(self.token);
            if let Some(talk) = event_loop.conns.talk(self.token)
                && !self.summary.is_given_up()
            {
                if self.reply.until_close {
                    // An ordinary end would look like the end of the body.
                    sys::reset_on_close(talk.socket);
                }
                self.reply.taken += talk.line.output.take_sent();
                talk.line.output = Output::default();
                talk.state.response_aborted();
            }
        }
        self.release();
    }

    /// The response has ended: the connection goes on without the dialogue.
    pub(super) fn release(&mut self) {
        self.release_with(Vec::new());
    }

    /// The same; the whole `response` is still to be sent, unless it is empty.
    fn release_with(&mut self, response: Vec<u8>) {
        self.reply.stage = Stage::Done;
        let Some(mut request) = self.request.take() else { return };
        if self.shared.config.timed {
            request.timing.ended = sys::monotonic_micros();
        }
        if let Some(body) = self.summary.given_up() {
            (self.reply.status, self.reply.sent) = (LATE.status, body);
            self.fields.clear();
        }
        self.shared.count_answer();
        self.log_answer(&request);
        let mut event_loop = self.shared.event_loop();
        let from = (self.peer, self.listener);
        event_loop.end_dialogue(self.token, request, &mut self.reply, from, response);
        let rings = event_loop.rings_bell();
        drop(event_loop);
        if rings {
            self.shared.ring();
        }
    }

    fn log_answer(&self, request: &Request) {
        if self.shared.config.logs_answers() {
            self.shared.config.log_answer(&Entry {
                client: request.client(self.peer, self.proxies()),
                request,
                listener: self.listener,
                fields: Some(&self.fields),
                status: self.reply.status,
                bytes: self.reply.sent,
            });
        }
    }
}

impl EventLoop {
    /// The socket did not take all: the loop sends the rest, unless the client takes too long.
    pub(super) fn output_waits(&mut self, token: Token) {
        self.now = sys::monotonic_millis();
        self.flush_line(token);
    }

    /// Gives the connection back to the loop, with what is still to be sent.
    fn end_dialogue(
        &mut self,
        token: Token,
        mut request: Box<Request>,
        reply: &mut Reply,
        (peer, listener): (Peer, u16),
        response: Vec<u8>,
    ) {
        let Some(conn) = self.conns.get(token) else {
            self.in_flight -= 1;
            return;
        };
        let (Phase::Dialogue(line), Some(socket)) =
            (std::mem::replace(&mut conn.phase, Phase::Running), conn.socket.take())
        else {
            self.in_flight -= 1;
            return self.close(token);
        };
        let mut line = *line;
        request.buffer.append(&mut line.take_rest());
        conn.deadline = 0;
        let mut state = conn.state;
        if let Some(websocket) = line.websocket.take() {
            let limit = self.config.websockets.max_size;
            request.farewell = websocket.into_farewell(limit, &mut self.compression);
        }
        let mut output = line.into_output();
        if self.config.metrics.is_some() {
            let sent = reply.taken + output.take_sent();
            request.answer = Answer { status: reply.status, sent };
        }
        if !response.is_empty() {
            return self
                .keep_response(Job { token, socket, state, request, peer, listener }, response);
        }
        if output.is_empty() && state.response_is_under_way() {
            state.response_complete();
        }
        self.put_back(Job { token, socket, state, request, peer, listener }, output);
    }
}
