//! One request on its way to a handler, and the objects reused for it.

use pronghorn_proto::field::Known;
use pronghorn_proto::framing::Framing;
use pronghorn_proto::head::{HeadScanner, RequestHead};
use pronghorn_proto::trace::is_traceparent;

use crate::address::Peer;
use crate::body::{Body, Intake};
use crate::client::{Client, Proxies};
use crate::dialogue::Farewell;
use crate::request_id::RequestId;
use crate::sys;

/// The size of a read buffer: most heads fit, and small bodies with them.
pub(crate) const READ_BUFFER: usize = 4 << 10;

/// Bodies below this size are not worth memory of the handler's own.
pub(crate) const LEAST_LENT: u64 = 16 << 10;

/// A buffer that grew beyond this is not kept for reuse.
const LARGEST_KEPT: usize = 16 << 10;

/// How many unused requests are kept.
const MOST_KEPT: usize = 256;

/// A request while it is read, queued and run. Reused: once warm it allocates nothing.
pub(crate) struct Request {
    /// What was read of the connection, from the first byte of the head on.
    pub(crate) buffer: Vec<u8>,
    pub(crate) scanner: HeadScanner,
    /// Offsets into `buffer`.
    pub(crate) head: RequestHead,
    /// The head is `buffer[..head_length]`; 0 while it is not complete.
    pub(crate) head_length: usize,
    /// What of `buffer` belongs to this request; the rest is the next one's.
    pub(crate) consumed: usize,
    pub(crate) body: BodyState,
    /// When the head was complete, in milliseconds of the monotonic clock.
    pub(crate) queued_at: u64,
    /// When the connection's response before it was done; 0 is never.
    pub(crate) answered_at: u64,
    pub(crate) timing: Timing,
    pub(crate) id: RequestId,
    pub(crate) answer: Answer,
    /// What its client may still say when it has become a WebSocket that has ended.
    pub(crate) farewell: Option<Farewell>,
}

/// When a request got how far, in microseconds of the monotonic clock; kept when [`Config::timed`](crate::Config::timed) says so.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Timing {
    /// It was complete and went into the run queue, or was refused.
    pub(crate) queued: u64,
    /// Its handler began.
    pub(crate) started: u64,
    /// Its handler had ended.
    pub(crate) ended: u64,
}

/// What was answered, for the metrics.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Bytes that went out while the handler ran.
    pub(crate) sent: u64,
}

/// The request's body, on its way.
pub(crate) enum BodyState {
    /// There is none, or it was taken.
    None,
    /// All of it lies in the request's buffer, behind the head.
    InBuffer,
    /// It is arriving.
    Arriving(Box<Intake>),
    /// The client waits for 100 before it sends it.
    Expected(Box<Intake>),
    /// All of it is there.
    Complete(Body),
}

impl Request {
    fn new() -> Self {
        Request {
            buffer: Vec::with_capacity(READ_BUFFER),
            scanner: HeadScanner::default(),
            head: RequestHead::default(),
            head_length: 0,
            consumed: 0,
            body: BodyState::None,
            queued_at: 0,
            answered_at: 0,
            timing: Timing::default(),
            id: RequestId::None,
            answer: Answer::default(),
            farewell: None,
        }
    }

    /// For whom it is made; `peer` is who sent it. Of a head that is not complete, nothing is believed: what counts may be still to come.
    pub(crate) fn client(&self, peer: Peer, proxies: &Proxies) -> Client {
        match self.head_length {
            0 => peer.into(),
            _ => proxies.client(&self.head, &self.buffer, peer),
        }
    }

    /// Its identifier; `None` if requests get none.
    pub(crate) fn id(&self) -> Option<&[u8]> {
        match &self.id {
            RequestId::None => None,
            RequestId::Kept(span) => Some(span.of(&self.buffer)),
            RequestId::Made(id) => Some(id),
        }
    }

    /// The W3C's trace context that it came with, if it is valid.
    pub(crate) fn traceparent(&self) -> Option<&[u8]> {
        let mut values = self.head.values(&self.buffer, Known::Traceparent);
        match (values.next(), values.next()) {
            (Some(value), None) if is_traceparent(value) => Some(value),
            _ => None,
        }
    }

    /// Whether memory lent by the handler is worth while for its body.
    pub(crate) fn has_large_body(&self) -> bool {
        matches!(self.head.framing, Framing::Length(length) if length >= LEAST_LENT)
    }

    /// Whether bytes beyond this request were read.
    pub(crate) fn has_rest(&self) -> bool {
        self.buffer.len() > self.consumed
    }

    /// Begins anew with the bytes beyond the request just done.
    pub(crate) fn restart(&mut self) {
        self.buffer.drain(..self.consumed);
        self.reset();
    }

    /// Whether nothing of it has come but line ends, which may stand before a request (RFC 9112 section 2.2).
    pub(crate) fn is_blank(&self) -> bool {
        self.buffer.iter().all(|byte| b"\r\n".contains(byte))
    }

    /// Doubles the buffer; false when there is no memory for it.
    pub(crate) fn grow_buffer(&mut self) -> bool {
        let more = self.buffer.capacity();
        !sys::memory_is_short() && self.buffer.try_reserve(more).is_ok()
    }

    fn reset(&mut self) {
        self.scanner = HeadScanner::default();
        self.head.clear();
        self.head_length = 0;
        self.consumed = 0;
        self.body = BodyState::None;
        self.id = RequestId::None;
        self.timing = Timing::default();
        self.answer = Answer::default();
        self.farewell = None;
    }
}

/// Requests that wait for their next use, the last used first.
#[derive(Default)]
pub(crate) struct Pool {
    #[expect(clippy::vec_box, reason = "they travel boxed: what is moved is a pointer")]
    spare: Vec<Box<Request>>,
}

impl Pool {
    /// An empty request; none when there is no memory for one.
    pub(crate) fn take(&mut self) -> Option<Box<Request>> {
        match self.spare.pop() {
            None if sys::memory_is_short() => None,
            None => Some(Box::new(Request::new())),
            spare => spare,
        }
    }

    /// Gives up the memory of those that wait.
    pub(crate) fn release(&mut self) {
        self.spare = Vec::new();
    }

    /// Gives a request back.
    pub(crate) fn put(&mut self, mut request: Box<Request>) {
        if self.spare.len() < MOST_KEPT && request.buffer.capacity() <= LARGEST_KEPT {
            request.buffer.clear();
            request.reset();
            self.spare.push(request);
        }
    }
}
