//! A connection without a socket: takes what a client sends, in any pieces, and notes what a
//! server would answer.

use pronghorn_proto::{BodyDecoder, Error, Form, HeadScanner, Known, Limits, RequestHead, Version};

/// What became of one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It reached the application.
    Served(Box<Request>),
    /// It was refused.
    Refused(Error),
}

/// What an application sees of a request, and what its response has to say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    pub method: Vec<u8>,
    pub path: Vec<u8>,
    pub query: Option<Vec<u8>>,
    pub host: Option<Vec<u8>>,
    /// Names in lower case; lines of one name joined, names an environ cannot have left out.
    pub fields: Vec<(Vec<u8>, Vec<u8>)>,
    pub body: Vec<u8>,
    pub version: Version,
    pub persistent: bool,
    pub keep_alive_requested: bool,
    pub expect_continue: bool,
}

/// One connection.
pub struct Conversation {
    limits: Limits,
    scanner: HeadScanner,
    head: RequestHead,
    phase: Phase,
    received: Vec<u8>,
    outcomes: Vec<Outcome>,
}

enum Phase {
    Head,
    Body(BodyDecoder, Box<Request>),
    Over,
}

/// The outcomes of `pieces` under default limits, and whether the connection is still open.
pub fn play(pieces: &[&[u8]], eof: bool) -> (Vec<Outcome>, bool) {
    let mut conversation = Conversation::new(Limits::default());
    for piece in pieces {
        conversation.receive(piece);
    }
    if eof {
        conversation.receive_eof();
    }
    let open = !matches!(conversation.phase, Phase::Over);
    (conversation.outcomes, open)
}

impl Conversation {
    fn new(limits: Limits) -> Conversation {
        Conversation {
            limits,
            scanner: HeadScanner::default(),
            head: RequestHead::default(),
            phase: Phase::Head,
            received: Vec::new(),
            outcomes: Vec::new(),
        }
    }

    fn receive(&mut self, piece: &[u8]) {
        self.received.extend_from_slice(piece);
        let mut start = 0;
        while let Some(used) = self.step(start) {
            start += used;
        }
        self.received.drain(..start);
    }

    fn receive_eof(&mut self) {
        if let Phase::Body(..) = self.phase {
            self.refuse(Error::BodyTruncated);
        }
    }

    /// Completes a head or a body that begins at `start`; gives its length, `None` if the bytes
    /// received do not suffice.
    fn step(&mut self, start: usize) -> Option<usize> {
        let result = match &mut self.phase {
            Phase::Head => self.step_head(start),
            Phase::Body(..) => return self.step_body(start),
            Phase::Over => return None,
        };
        result.unwrap_or_else(|error| {
            self.refuse(error);
            None
        })
    }

    fn step_head(&mut self, start: usize) -> Result<Option<usize>, Error> {
        let received = &self.received[start..];
        let complete = self.scanner.advance(received, &self.limits, &mut self.head)?;
        let Some(length) = complete else { return Ok(None) };
        self.scanner = HeadScanner::default();
        self.head.interpret(received, &self.limits)?;
        let request = Box::new(Request::new(&self.head, received));
        self.phase = Phase::Body(BodyDecoder::new(self.head.framing, &self.limits), request);
        Ok(Some(length))
    }

    fn step_body(&mut self, start: usize) -> Option<usize> {
        let Phase::Body(decoder, request) = &mut self.phase else { return None };
        let body = &mut request.body;
        let input = &self.received[start..];
        match decoder.decode(input, &mut |data| body.extend_from_slice(data)) {
            Err(error) => {
                self.refuse(error);
                None
            }
            Ok(decoded) if decoded.complete => {
                let request = std::mem::take(request);
                self.phase = if request.persistent { Phase::Head } else { Phase::Over };
                self.outcomes.push(Outcome::Served(request));
                Some(decoded.consumed)
            }
            Ok(decoded) => {
                assert_eq!(decoded.consumed, input.len());
                (decoded.consumed > 0).then_some(decoded.consumed)
            }
        }
    }

    fn refuse(&mut self, error: Error) {
        self.phase = Phase::Over;
        self.outcomes.push(Outcome::Refused(error));
    }
}

impl Request {
    fn new(head: &RequestHead, buf: &[u8]) -> Request {
        let path = match (head.target.form, head.target.path.of(buf)) {
            (Form::Asterisk, _) => b"*",
            (Form::Absolute, b"") => b"/",
            (_, path) => path,
        };
        Request {
            method: head.method_span.of(buf).to_vec(),
            path: path.to_vec(),
            query: head.target.query.map(|query| query.of(buf).to_vec()),
            host: head.host.map(|host| host.of(buf).to_vec()),
            fields: fields(head, buf),
            body: Vec::new(),
            version: head.version,
            persistent: head.persistent,
            keep_alive_requested: head.keep_alive_requested,
            expect_continue: head.expect_continue,
        }
    }
}

fn fields(head: &RequestHead, buf: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    let mut fields: Vec<(Vec<u8>, Vec<u8>)> = Vec::new();
    for field in &head.fields {
        let name = field.name.of(buf).to_ascii_lowercase();
        if name.contains(&b'_') || field.known == Some(Known::Proxy) {
            continue;
        }
        match fields.iter_mut().find(|(earlier, _)| *earlier == name) {
            Some((_, value)) => {
                value.extend(if name == b"cookie" { b"; " } else { b", " });
                value.extend(field.value.of(buf));
            }
            None => fields.push((name, field.value.of(buf).to_vec())),
        }
    }
    fields
}
