//! How far a response is, and its head: what an exchange and a dialogue have in common.

use std::fs::File;
use std::io::{self, IoSlice};
use std::mem;
use std::os::fd::AsFd;

use pronghorn_proto::encode::{
    BodyFraming, BodySize, BodyWriter, Refusal, RequestFacts, ResponseFields, ServerFields,
    chunk_head, plan, write_head,
};

use crate::conn::{Output, Piece, Retained};
use crate::sys;

/// A body up to this size is copied behind its head: one plain send is cheaper than a gathered one.
const COPIED: usize = 2 << 10;

/// What a client gets of an application that failed before it answered.
pub(crate) const FAILED: Refusal = Refusal {
    status: 500,
    message: "The application failed to answer this request; its log says why.",
    fields: &[],
};

/// A response under way.
#[derive(Default)]
pub(crate) struct Reply {
    pub(crate) stage: Stage,
    pub(crate) status: u16,
    pub(crate) persistent: bool,
    /// The end of the connection is the end of the body.
    pub(crate) until_close: bool,
    /// Bytes of the body that the client was sent, or will be by the loop.
    pub(crate) sent: u64,
    /// Bytes that the kernel took besides those of the output that waits.
    pub(crate) taken: u64,
}

/// How far a response is.
#[derive(Default)]
pub(crate) enum Stage {
    /// Nothing was said.
    #[default]
    Fresh,
    /// The head is made; the first bytes after it take it along.
    Head(BodyWriter),
    /// The head is on its way.
    Body(BodyWriter),
    /// The connection is a WebSocket.
    Switched,
    /// It ended, well or not.
    Done,
}

impl Reply {
    /// Whether the head of the response is on its way: nothing of it can change any more.
    pub(crate) fn has_started(&self) -> bool {
        matches!(self.stage, Stage::Body(_) | Stage::Switched | Stage::Done)
    }

    /// What counts the body, and whether the head is still to go with it; `None` before the response begins and after its end.
    pub(crate) fn take_writer(&mut self) -> Option<(BodyWriter, bool)> {
        match mem::replace(&mut self.stage, Stage::Done) {
            Stage::Head(writer) => Some((writer, true)),
            Stage::Body(writer) => Some((writer, false)),
            other => {
                self.stage = other;
                None
            }
        }
    }

    /// Writes the head of a response with status and reason `line` to `head`; gives what counts its body.
    pub(crate) fn make_head(
        &mut self,
        head: &mut Vec<u8>,
        (status, reason): (u16, &[u8]),
        fields: &ResponseFields,
        size: BodySize,
        facts: &RequestFacts,
        server: &ServerFields<'_>,
    ) -> BodyWriter {
        debug_assert!(matches!(self.stage, Stage::Fresh | Stage::Head(_)), "a second response");
        let plan = plan(*facts, status, fields, size);
        head.clear();
        write_head(head, status, reason, fields, &plan, facts, server);
        self.until_close = plan.framing == BodyFraming::UntilClose;
        self.persistent = plan.persistent;
        self.status = status;
        BodyWriter::new(&plan)
    }
}

/// Sends head, body and what ends it (of a chunk) in one call; gives how many bytes of all the socket took.
pub(crate) fn send_with_head(
    socket: impl AsFd,
    head: &mut Vec<u8>,
    body: &[u8],
    end: &[u8],
) -> io::Result<usize> {
    let sent = if body.len() <= COPIED {
        let length = head.len();
        head.extend_from_slice(body);
        head.extend_from_slice(end);
        let sent = sys::send(socket, head);
        head.truncate(length);
        sent
    } else {
        let pieces = [IoSlice::new(head), IoSlice::new(body), IoSlice::new(end)];
        sys::send_gathered(socket, &pieces, false)
    };
    match sent {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(0),
        other => other,
    }
}

/// Keeps what of head, body and end was not sent.
pub(crate) fn keep_unsent(
    output: &mut Output,
    head: &[u8],
    sent: usize,
    admitted: usize,
    end: &[u8],
    keep: impl FnOnce() -> Retained,
) {
    let before_end = head.len() + admitted;
    if sent == before_end + end.len() {
        return;
    }
    if sent < head.len() {
        output.push(Piece::Owned(head.to_vec(), sent));
    }
    if admitted > 0 && sent < before_end {
        let from = sent.saturating_sub(head.len());
        output.push(Piece::Retained(keep(), from, admitted));
    }
    output.push(Piece::Owned(end.to_vec(), sent.saturating_sub(before_end)));
}

/// Puts a part of a file (its offset and length) behind what waits, as a chunk of its own if the body is chunked. `head` goes before.
pub(crate) fn push_file(
    output: &mut Output,
    mut head: Vec<u8>,
    (file, offset, length): (File, u64, u64),
    chunked: bool,
) {
    if chunked {
        put_chunk_head(&mut head, length as usize);
    }
    output.push(Piece::Owned(head, 0));
    output.push(Piece::File(file, offset, length));
    if chunked {
        output.push(Piece::Owned(b"\r\n".to_vec(), 0));
    }
}

/// Appends the line before a chunk of `length` bytes.
pub(crate) fn put_chunk_head(out: &mut Vec<u8>, length: usize) {
    let mut line = [0; 18];
    let count = chunk_head(length, &mut line);
    out.extend_from_slice(&line[..count]);
}
