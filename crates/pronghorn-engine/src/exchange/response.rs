//! Sending the response: at once where the socket has room, else as back-pressure allows.

use std::fmt;
use std::fs::File;
use std::io::{self, IoSlice};
use std::mem;

use pronghorn_proto::encode::{
    BodySize, BodyWriter, End, LAST_CHUNK, Refusal, RequestFacts, chunk_head, error_response,
};

use super::Exchange;
use crate::conn::{Flushed, Output, Piece, Retained};
use crate::date::date_now;
use crate::reply::{FAILED, Stage, keep_unsent, push_file, send_with_head};
use crate::sys;
use crate::watchdog::Answer;

/// The client is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gone;

/// Why a part of a response did not go out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriteError {
    /// The client is gone.
    Gone,
    /// The client left the send buffer full for longer than the write deadline.
    TooSlow,
}

impl Exchange<'_> {
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
        let mut writer = self.make_head(status, reason, BodySize::Known(body.len() as u64));
        self.begin_response()?;
        let admitted = writer.admit(body.len());
        self.reply.sent = admitted as u64;
        let head = &mut self.thread.head;
        match send_with_head(&self.job.socket, head, &body[..admitted], b"") {
            Ok(sent) => {
                self.reply.taken += sent as u64;
                keep_unsent(&mut self.output, head, sent, admitted, b"", keep);
            }
            Err(error) => return self.give_up(&error),
        }
        self.reply.stage = Stage::Body(writer);
        self.finish();
        Ok(())
    }

    /// Begins a response. Its head goes out with the first bytes of the body, or at the end.
    pub fn start(&mut self, status: u16, reason: &[u8], size: BodySize) {
        let writer = self.make_head(status, reason, size);
        self.reply.stage = Stage::Head(writer);
    }

    /// Sends a part of the body; all of it is with the kernel when this returns. Waits, detached, while the client does not keep up.
    /// What exceeds the Content-Length is left out; so is any body where the response has none.
    ///
    /// # Errors
    /// The client is gone, or too slow. The response counts as ended then.
    pub fn write(&mut self, data: &[u8]) -> Result<(), WriteError> {
        let (mut writer, with_head) = self.reply.take_writer().ok_or(WriteError::Gone)?;
        let data = &data[..writer.admit(data.len())];
        let chunked = writer.is_chunked() && !data.is_empty();
        self.reply.stage = Stage::Body(writer);
        self.reply.sent += data.len() as u64;
        let head = if with_head { mem::take(&mut self.thread.head) } else { Vec::new() };
        let result = self.write_pieces(&head, data, chunked);
        if with_head {
            self.thread.head = head;
        }
        result
    }

    /// Sends `length` bytes of `file` from `offset` on, as a part of the body. What the socket does not take is sent by the loop:
    /// this may be the last part only.
    ///
    /// # Errors
    /// The client is gone. The response counts as ended then.
    pub fn send_file(&mut self, file: File, offset: u64, length: u64) -> Result<(), WriteError> {
        let (mut writer, with_head) = self.reply.take_writer().ok_or(WriteError::Gone)?;
        let length = writer.admit(usize::try_from(length).unwrap_or(usize::MAX)) as u64;
        let chunked = writer.is_chunked() && length > 0;
        self.reply.stage = Stage::Body(writer);
        self.begin_response()?;
        self.reply.sent += length;
        let head = if with_head { self.thread.head.clone() } else { Vec::new() };
        push_file(&mut self.output, head, (file, offset, length), chunked);
        match self.output.flush(&self.job.socket) {
            Ok(_) => Ok(()),
            Err(error) => self.give_up(&error).map_err(WriteError::from),
        }
    }

    /// Ends the response. One that is shorter than its Content-Length cannot be mended: the connection is aborted.
    pub fn finish(&mut self) {
        let Some((writer, with_head)) = self.reply.take_writer() else { return };
        if with_head {
            self.output.push(Piece::Owned(self.thread.head.clone(), 0));
        }
        match writer.finish() {
            Ok(End::LastChunk) => self.output.push(Piece::Owned(LAST_CHUNK.to_vec(), 0)),
            Ok(_) => {}
            Err(short) => {
                log::error!("{}: {short}; its connection is cut", self.label());
                return self.abort();
            }
        }
        self.flush_end();
    }

    /// The application failed: 500 if nothing was sent, else the connection is aborted. After the end of the response it changes
    /// nothing.
    pub fn fail(&mut self) {
        match mem::replace(&mut self.reply.stage, Stage::Done) {
            Stage::Done => {}
            Stage::Body(_) | Stage::Switched => self.abort(),
            Stage::Head(_) if self.job.state.response_has_begun() => self.abort(),
            Stage::Fresh | Stage::Head(_) => self.send_failure(),
        }
    }

    /// The same with a text of `content_type` in the place of the server's own, if it is for this failure that one is sent.
    pub fn fail_with(&mut self, content_type: &[u8], text: &[u8]) {
        let is_open = matches!(self.reply.stage, Stage::Fresh | Stage::Head(_));
        if !is_open || self.refused.is_some() || self.job.state.response_has_begun() {
            return self.fail();
        }
        let fields = self.fields();
        fields.clear();
        if fields.push(b"Content-Type", content_type).is_err() {
            return self.fail();
        }
        // A client that has gone needs no answer.
        let _ = self.respond(500, b"Internal Server Error", text, || Box::new(text.to_vec()));
    }

    /// Method and target, for the log.
    pub fn label(&self) -> String {
        let head = self.head();
        let bytes = self.head_bytes();
        let method = String::from_utf8_lossy(head.method_span.of(bytes));
        let target = String::from_utf8_lossy(head.target.raw.of(bytes)).into_owned();
        format!("{method} {}", target.escape_default())
    }

    fn make_head(&mut self, status: u16, reason: &[u8], size: BodySize) -> BodyWriter {
        let facts = self.facts();
        let thread = &mut *self.thread;
        let config = &thread.shared.config;
        let date = date_now();
        let server = config.server_fields(&date, &self.job.request);
        let line = (status, reason);
        self.reply.make_head(&mut thread.head, line, &thread.fields, size, &facts, &server)
    }

    fn facts(&self) -> RequestFacts {
        let persistent = self.job.state.may_persist() && !self.thread.shared.is_draining();
        RequestFacts::of(self.head(), persistent)
    }

    fn write_pieces(&mut self, head: &[u8], data: &[u8], chunked: bool) -> Result<(), WriteError> {
        self.begin_response()?;
        let mut size = [0; 18];
        let count = if chunked { chunk_head(data.len(), &mut size) } else { 0 };
        let end: &[u8] = if chunked { b"\r\n" } else { b"" };
        let mut slices = [head, &size[..count], data, end].map(IoSlice::new);
        let mut slices = &mut slices[..];
        IoSlice::advance_slices(&mut slices, 0);
        while !slices.is_empty() {
            match sys::send_gathered(&self.job.socket, slices, false) {
                Ok(sent) => {
                    self.reply.taken += sent as u64;
                    IoSlice::advance_slices(&mut slices, sent);
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.wait_writable()?,
                Err(error) => return self.give_up(&error).map_err(WriteError::from),
            }
        }
        Ok(())
    }

    /// Sends what waits, and leaves the rest to the loop.
    fn flush_end(&mut self) {
        if self.begin_response().is_err() {
            return;
        }
        if self.output.is_empty() {
            return self.job.state.response_complete();
        }
        match self.output.flush(&self.job.socket) {
            Ok(Flushed::All) => self.job.state.response_complete(),
            Ok(Flushed::Full | Flushed::More) => {}
            Err(error) => {
                let _ = self.give_up(&error);
            }
        }
    }

    /// Before anything of the response is sent: claims the right to it the first time, and looks whether the request is over its
    /// time then and every other time.
    fn begin_response(&mut self) -> Result<(), Gone> {
        let has_begun = self.job.state.response_has_begun();
        let slot = &self.thread.slot;
        let is_overdue = if has_begun { slot.is_overdue() } else { !slot.begin_response() };
        if is_overdue {
            self.end_overdue();
            return Err(Gone);
        }
        if !has_begun {
            self.job.state.response_started(self.reply.persistent);
        }
        Ok(())
    }

    /// The request is over its time: its client has its answer, or gets no more of the one that had begun.
    fn end_overdue(&mut self) {
        let Answer::Whole { status, body, sent } = self.thread.slot.answer() else {
            return self.abort();
        };
        self.reply.stage = Stage::Done;
        self.output = Output::default();
        self.reply.status = status;
        self.reply.sent = body;
        self.reply.taken = sent;
        self.job.state.response_started(false);
        self.job.state.response_complete();
    }

    fn send_failure(&mut self) {
        let refusal = self.refused.map_or(FAILED, Refusal::from);
        let facts = self.facts();
        let date = date_now();
        let server = self.thread.shared.config.server_fields(&date, &self.job.request);
        let mut response = Vec::new();
        self.reply.sent = error_response(&mut response, &refusal, facts, &server);
        self.thread.fields.clear();
        self.reply.status = refusal.status;
        self.reply.persistent = false;
        self.output.push(Piece::Owned(response, 0));
        self.flush_end();
    }

    pub(super) fn give_up(&mut self, error: &io::Error) -> Result<(), Gone> {
        log::debug!("{}: the response was not sent whole: {error}", self.label());
        self.abort();
        Err(Gone)
    }

    pub(super) fn abort(&mut self) {
        self.reply.stage = Stage::Done;
        self.reply.taken += self.output.take_sent();
        self.output = Default::default();
        if self.reply.until_close {
            // An ordinary end would look like the end of the body.
            sys::reset_on_close(&self.job.socket);
        }
        self.job.state.response_aborted();
    }
}

impl From<Gone> for WriteError {
    fn from(_: Gone) -> Self {
        WriteError::Gone
    }
}

impl fmt::Display for Gone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the client is gone")
    }
}

impl fmt::Display for WriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            WriteError::Gone => "the client is gone",
            WriteError::TooSlow => "the client did not read for longer than the write deadline",
        })
    }
}

impl std::error::Error for Gone {}
impl std::error::Error for WriteError {}
