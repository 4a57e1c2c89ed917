//! From the bytes of a client to what it says.

use std::borrow::Cow;

use super::assembly::Assembly;
use super::close::Close;
use super::deflate::{Agreement, Inflater, Inflaters};
use super::event::{Event, Kind};
use super::fault::Fault;
use super::frame::{self, Header, HeaderReader, Opcode};
use super::limits::Limits;
use super::mask::Mask;
use super::utf8::whole_characters;

/// Reads the frames of one client.
///
/// It keeps what is needed of a frame or message of which more is to come; between messages it
/// holds no memory but its own.
#[derive(Debug, Default)]
pub struct Decoder {
    header: HeaderReader,
    /// The frame whose payload comes next.
    frame: Option<Frame>,
    message: Option<Assembly>,
    /// What there is of the payload of a control frame.
    control: Vec<u8>,
    deflate: Option<Agreement>,
    /// While a compressed message is under way; with context takeover from the first one on.
    inflater: Option<Box<Inflater>>,
    /// After the close frame of the client, or a fault.
    over: bool,
}

/// A frame whose header has been read.
#[derive(Clone, Copy, Debug)]
struct Frame {
    opcode: Opcode,
    last: bool,
    mask: Mask,
    /// Bytes of the payload still to come.
    left: u64,
}

impl Decoder {
    /// A decoder for what follows a handshake that agreed on `deflate`.
    pub fn new(deflate: Option<Agreement>) -> Decoder {
        Decoder { deflate, ..Decoder::default() }
    }

    /// Takes bytes from the front of `input`, up to the end of the next event, and changes them.
    ///
    /// Gives `None` once all of `input` is taken and more is needed. Call it until then, with what
    /// is left in `input`, or come back for the rest when there is room for more events. Inflating
    /// borrows from `inflaters`. After a close frame everything is taken and nothing is said.
    ///
    /// # Errors
    /// The same however the bytes were cut, as soon as no bytes that could follow would make it
    /// right. Final: after one the decoder is over.
    pub fn advance<'a>(
        &mut self,
        input: &mut &'a mut [u8],
        limits: &Limits,
        inflaters: &mut Inflaters,
    ) -> Result<Option<Event<'a>>, Fault> {
        if self.over {
            *input = &mut [];
            return Ok(None);
        }
        let outcome = self.next_event(input, limits, inflaters);
        if matches!(outcome, Err(_) | Ok(Some(Event::Close(_)))) {
            *self = Decoder { over: true, ..Decoder::default() };
        }
        outcome
    }

    /// How many bytes are still to come of the frame under way. A caller may read as many at once.
    pub fn pending(&self) -> u64 {
        self.frame.map_or(0, |frame| frame.left)
    }

    /// Whether the client has said its last: it closed, or broke the protocol.
    pub fn is_over(&self) -> bool {
        self.over
    }

    fn next_event<'a>(
        &mut self,
        input: &mut &'a mut [u8],
        limits: &Limits,
        inflaters: &mut Inflaters,
    ) -> Result<Option<Event<'a>>, Fault> {
        loop {
            let mut frame = match self.frame {
                Some(frame) => frame,
                None => match self.header.read(input)? {
                    Some(header) => self.begin(header, limits)?,
                    None => return Ok(None),
                },
            };
            let part = frame.take(input);
            self.frame = (frame.left > 0).then_some(frame);
            let event = match frame.opcode.is_control() {
                true => self.control_part(frame, part)?,
                false => self.message_part(frame, part, limits, inflaters)?,
            };
            if event.is_some() || input.is_empty() {
                return Ok(event);
            }
        }
    }

    /// Admits a frame to the message under way, or begins one with it.
    fn begin(&mut self, header: Header, limits: &Limits) -> Result<Frame, Fault> {
        let Header { opcode, last, compressed, length, key } = header;
        match (opcode, &self.message) {
            (Opcode::Continuation, None) => return Err(Fault::Continuation),
            // Only the first frame of a message tells that it is compressed (RFC 7692 section 6.1).
            (Opcode::Continuation, Some(_)) if compressed => return Err(Fault::ReservedBits),
            (Opcode::Text | Opcode::Binary, Some(_)) => return Err(Fault::Interrupted),
            (Opcode::Text, None) => self.begin_message(Kind::Text, compressed)?,
            (Opcode::Binary, None) => self.begin_message(Kind::Binary, compressed)?,
            _ => {}
        }
        if let Some(message) = self.message.as_mut().filter(|_| !opcode.is_control()) {
            message.admit(length, limits.message)?;
        }
        Ok(Frame { opcode, last, mask: Mask::new(key), left: length })
    }

    fn begin_message(&mut self, kind: Kind, compressed: bool) -> Result<(), Fault> {
        if compressed && self.deflate.is_none() {
            return Err(Fault::ReservedBits);
        }
        self.message = Some(Assembly::new(kind, compressed));
        Ok(())
    }

    fn control_part<'a>(
        &mut self,
        frame: Frame,
        part: &'a mut [u8],
    ) -> Result<Option<Event<'a>>, Fault> {
        if frame.left > 0 || !self.control.is_empty() {
            self.control.extend_from_slice(part);
        }
        if frame.left > 0 {
            return Ok(None);
        }
        let payload = match self.control.is_empty() {
            true => Cow::Borrowed(&*part),
            false => Cow::Owned(core::mem::take(&mut self.control)),
        };
        Ok(Some(match frame.opcode {
            Opcode::Ping => Event::Ping(payload),
            Opcode::Pong => Event::Pong(payload),
            _ => Event::Close(Close::parse(&payload)?),
        }))
    }

    fn message_part<'a>(
        &mut self,
        frame: Frame,
        part: &'a mut [u8],
        limits: &Limits,
        inflaters: &mut Inflaters,
    ) -> Result<Option<Event<'a>>, Fault> {
        let complete = frame.last && frame.left == 0;
        let Some(message) = &mut self.message else { return Ok(None) };
        if message.compressed {
            return self.compressed_part(complete, part, limits, inflaters);
        }
        if !complete || !message.is_empty() {
            message.append(part, frame.left)?;
            return if complete { self.finish() } else { Ok(None) };
        }
        let kind = message.kind;
        self.message = None;
        match kind == Kind::Text && whole_characters(part)? < part.len() {
            true => Err(Fault::Utf8),
            false => Ok(Some(kind.event(Cow::Borrowed(part)))),
        }
    }

    fn compressed_part<'a>(
        &mut self,
        complete: bool,
        part: &[u8],
        limits: &Limits,
        inflaters: &mut Inflaters,
    ) -> Result<Option<Event<'a>>, Fault> {
        let (Some(message), Some(deflate)) = (&mut self.message, &self.deflate) else {
            return Ok(None);
        };
        let inflater = self.inflater.get_or_insert_with(|| inflaters.lend(deflate));
        if !part.is_empty() {
            message.inflate(part, inflater, limits.message)?;
        }
        if !complete {
            return Ok(None);
        }
        message.inflate_end(inflater, limits.message)?;
        if !deflate.client_takeover {
            inflaters.take_back(self.inflater.take());
        }
        self.finish()
    }

    fn finish<'a>(&mut self) -> Result<Option<Event<'a>>, Fault> {
        let Some(message) = self.message.take() else { return Ok(None) };
        let kind = message.kind;
        Ok(Some(kind.event(Cow::Owned(message.finish()?))))
    }
}

impl Frame {
    /// Takes what there is of the payload from the front of `input`, unmasked.
    fn take<'a>(&mut self, input: &mut &'a mut [u8]) -> &'a mut [u8] {
        let length = usize::try_from(self.left).unwrap_or(usize::MAX).min(input.len());
        let part = frame::take(input, length);
        self.mask.apply(part);
        self.left -= part.len() as u64;
        part
    }
}

#[cfg(test)]
mod tests;
