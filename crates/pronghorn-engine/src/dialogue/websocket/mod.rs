//! A WebSocket: what the loop does for it without the application (pings, closes, messages that wait), and what the application does.

mod farewell;
mod frames;
mod host;
mod message;

use std::borrow::Cow;
use std::collections::VecDeque;
use std::mem;
use std::time::Duration;

use pronghorn_proto::websocket::{
    self, Agreement, Close, Decoder, Deflaters, Encoder, Event, Inflaters, Kind, Limits,
};

pub(crate) use self::farewell::Farewell;
pub use self::host::Next;
use self::message::Message;
pub use self::message::Payload;
use super::line::READS_A_TURN;
use crate::conn::{self, Output, Token};
use crate::event_loop::EventLoop;
use crate::metrics::Timeout;
use crate::sys;
use crate::timer::Tick;

/// A client that takes no answers to its pings is read no further when so many bytes of them wait.
const MOST_ANSWERS: usize = 16 << 10;

/// Settings of WebSockets.
#[derive(Clone, Copy, Debug)]
pub struct WebSockets {
    /// The longest message of a client, after it is inflated.
    pub max_size: usize,
    /// So many messages wait for the application before the client has to.
    pub max_queue: usize,
    /// A client that says nothing is pinged this often; none never.
    pub ping_interval: Option<Duration>,
    /// How long it may take to answer; none is without end.
    pub ping_timeout: Option<Duration>,
    /// Whether messages may be compressed.
    pub deflate: bool,
}

impl Default for WebSockets {
    fn default() -> Self {
        WebSockets {
            max_size: 16 << 20,
            max_queue: 32,
            ping_interval: Some(Duration::from_secs(20)),
            ping_timeout: Some(Duration::from_secs(20)),
            deflate: true,
        }
    }
}

/// What all WebSockets of a server share.
#[derive(Default)]
pub(crate) struct Compression {
    inflaters: Inflaters,
    deflaters: Deflaters,
}

/// The loop's part of a WebSocket that was accepted.
pub(super) struct WebSocket {
    decoder: Decoder,
    encoder: Encoder,
    /// What was read and not decoded, as too much waits.
    input: Vec<u8>,
    messages: VecDeque<Message>,
    waiting: usize,
    /// Bytes of pongs since all that waited was sent.
    answers: usize,
    /// The client has ended it behind messages that wait: it ends when they are taken, so that they can be answered.
    last: Option<Close>,
    /// How it ended.
    ended: Option<Close>,
    /// The client has sent its close frame.
    client_has_closed: bool,
    ping_due: Tick,
    pong_due: Tick,
}

impl WebSocket {
    pub(super) fn new(deflate: Option<Agreement>, input: Vec<u8>) -> Self {
        WebSocket {
            decoder: Decoder::new(deflate),
            encoder: Encoder::new(deflate),
            input,
            messages: VecDeque::new(),
            waiting: 0,
            answers: 0,
            last: None,
            ended: None,
            client_has_closed: false,
            ping_due: 0,
            pong_due: 0,
        }
    }

    pub(super) fn has_ended(&self) -> bool {
        self.ended.is_some()
    }

    /// When it is to be looked at; 0 is never.
    pub(super) fn due(&self) -> Tick {
        match (self.ping_due, self.pong_due) {
            (0, due) | (due, 0) => due,
            (ping, pong) => ping.min(pong),
        }
    }

    /// Nothing waits for the client any more. Gives whether it was to be read no further before.
    pub(super) fn answers_are_sent(&mut self) -> bool {
        mem::take(&mut self.answers) >= MOST_ANSWERS
    }

    /// Whether the client has to take its answers before more of it is read.
    fn owes_answers(&self) -> bool {
        self.answers >= MOST_ANSWERS
    }

    fn is_full(&self, settings: &WebSockets, bound: usize) -> bool {
        self.messages.len() >= settings.max_queue || self.waiting >= bound
    }

    /// Decodes what was read until a message is there (given to `take`) or the input is used up.
    fn decode(
        &mut self,
        input: &mut &mut [u8],
        settings: &WebSockets,
        compression: &mut Compression,
        answers: &mut Vec<u8>,
        take: &mut dyn FnMut(Kind, Cow<'_, [u8]>),
    ) -> bool {
        let limits = Limits { message: settings.max_size };
        while self.ended.is_none() {
            match self.decoder.advance(input, &limits, &mut compression.inflaters) {
                Ok(None) => return false,
                Ok(Some(Event::Text(text))) => {
                    take(Kind::Text, text);
                    return true;
                }
                Ok(Some(Event::Binary(bytes))) => {
                    take(Kind::Binary, bytes);
                    return true;
                }
                Ok(Some(Event::Ping(payload))) => websocket::put_pong(&payload, answers),
                Ok(Some(Event::Pong(_))) => self.pong_due = 0,
                Ok(Some(Event::Close(close))) => {
                    self.client_has_closed = true;
                    self.leave(close);
                    self.end_if_taken(answers);
                    return false;
                }
                Err(fault) => {
                    let (code, reason) = (fault.code(), fault.message());
                    websocket::put_close(code, reason, answers);
                    self.end(Close { code, reason: reason.to_owned() });
                }
            }
        }
        false
    }

    /// Whether the client says nothing more.
    fn is_over(&self) -> bool {
        self.last.is_some() || self.has_ended()
    }

    /// The client says nothing more, and need not answer any more.
    fn leave(&mut self, close: Close) {
        self.last = Some(close);
        self.ping_due = 0;
        self.pong_due = 0;
    }

    /// Ends it as the client did, once no message waits. What that is answered goes to `answers`.
    fn end_if_taken(&mut self, answers: &mut Vec<u8>) {
        if !self.messages.is_empty() || self.has_ended() {
            return;
        }
        if let Some(close) = self.last.take() {
            if close.code != websocket::close::ABNORMAL {
                websocket::put_close(close.code, "", answers);
            }
            self.end(close);
        }
    }

    fn end(&mut self, close: Close) {
        self.ended.get_or_insert(close);
        self.ping_due = 0;
        self.pong_due = 0;
        if self.decoder.is_over() {
            self.input = Vec::new();
        }
    }
}

/// From the loop's side.
impl EventLoop {
    /// The selector reported something for a WebSocket.
    pub(super) fn read_websocket(&mut self, token: Token) {
        self.heard_of(token);
        let goes_on = (0..READS_A_TURN).all(|_| self.read_frames(token, &mut |_, _| {}, true));
        self.flush_line(token);
        if goes_on {
            self.go_on_later(token);
        }
        self.set_line_deadline(token);
        let Some(talk) = self.conns.talk(token) else { return };
        let Some(websocket) = &talk.line.websocket else { return };
        let (is_over, waits) = (websocket.is_over(), !websocket.messages.is_empty());
        if websocket.has_ended() || waits {
            self.stir(token);
        }
        if is_over {
            self.begin_grace(token);
        }
    }

    /// A ping is due, or its answer is overdue.
    pub(super) fn websocket_is_due(&mut self, token: Token, now: Tick) {
        let settings = self.config.websockets;
        let after = |limit: Option<Duration>| {
            limit.map_or(0, |limit| self.wheel.after(self.now, sys::millis(limit)))
        };
        let (ping_due, pong_due) = (after(settings.ping_interval), after(settings.ping_timeout));
        let bound = self.config.read_ahead;
        let Some(talk) = self.conns.talk(token) else { return };
        let Some(websocket) = &mut talk.line.websocket else { return };
        let has_come = |due: Tick| due > 0 && due <= now;
        if has_come(websocket.pong_due) && websocket.is_full(&settings, bound) {
            // It may have come: the application keeps it from being read.
            websocket.pong_due = pong_due;
        }
        if has_come(websocket.pong_due) {
            let reason = "keepalive ping timeout";
            say(&mut talk.line.output, |out| websocket::put_close(1011, reason, out));
            websocket.end(Close { code: 1011, reason: reason.to_owned() });
            if let Some(metrics) = &self.config.metrics {
                metrics.timed_out(Timeout::Ping);
            }
            self.flush_line(token);
            self.begin_grace(token);
            return self.stir(token);
        }
        if has_come(websocket.ping_due) {
            websocket.ping_due = ping_due;
            if websocket.pong_due == 0 {
                websocket.pong_due = pong_due;
            }
            say(&mut talk.line.output, |out| websocket::put_ping(b"", out));
            self.flush_line(token);
        }
    }

    /// The client lives: it need not be pinged for a while. Within a frame it cannot answer a ping that was sent.
    fn heard_of(&mut self, token: Token) {
        let settings = self.config.websockets;
        let Some(interval) = settings.ping_interval else { return };
        let due = self.wheel.after(self.now, sys::millis(interval));
        let timeout = settings.ping_timeout.unwrap_or_default();
        let pong_due = self.wheel.after(self.now, sys::millis(timeout));
        if let Some(talk) = self.conns.talk(token)
            && let Some(websocket) = &mut talk.line.websocket
            && !websocket.is_over()
        {
            websocket.ping_due = due;
            if websocket.pong_due > 0 && websocket.decoder.pending() > 0 {
                websocket.pong_due = pong_due;
            }
        }
    }
}

fn say(output: &mut Output, put: impl FnOnce(&mut Vec<u8>)) {
    let mut frame = Vec::new();
    put(&mut frame);
    output.push(conn::Piece::Owned(frame, 0));
}

fn gone() -> Close {
    Close { code: websocket::close::ABNORMAL, reason: String::new() }
}
