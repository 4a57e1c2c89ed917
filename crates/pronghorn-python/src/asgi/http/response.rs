//! Messages of an application become its response.

use std::mem;

use pronghorn_engine::{Dialogue, Gone, Room};
use pronghorn_proto::{
    encode::{BodySize, ResponseFields},
    field::{Known, members},
    status::Status,
};
use pyo3::{prelude::*, types::PyBytes};

use super::Http;
use crate::{
    asgi::{
        message::{FilePart, Message},
        raw::Sent,
        stage::{Part, Response},
    },
    raw::Kept,
};

impl Http {
    /// Takes a message that is legal here.
    #[inline]
    pub(in crate::asgi) fn take(&self, message: Message<'_, '_>, part: Part) -> PyResult<Sent> {
        match part {
            Part::Body => self.body(message.body()?.as_ref(), message.more_body()?),
            Part::Start => self.start(message),
            Part::ZeroCopySend => self.file(message.file_part()?, message.more_body()?),
            Part::PathSend => self.file(message.path_part()?, false),
            Part::EarlyHint => self.early_hint(message),
            Part::Trailers => self.trailers(message),
            Part::Debug => message.info().map(|_| Sent::Done),
        }
    }

    /// Notes the start: nothing is sent before there is a body (ASGI, "Response Start").
    fn start(&self, message: Message<'_, '_>) -> PyResult<Sent> {
        let (status, trailers) = (message.status()?, message.trailers()?);
        let mut fields = mem::take(self.dialogue()?.fields());
        // This may run code of the application, which may send another start.
        let taken = message.headers(&mut fields);
        let legal = taken.and_then(|()| message.admit(self.stage.get().check(Part::Start)));
        let mut dialogue = self.dialogue()?;
        legal?;
        *dialogue.fields() = fields;
        self.status.set(status);
        self.stage.set(Response::Started { trailers });
        Ok(Sent::Done)
    }

    #[inline]
    fn body(&self, body: Option<&Bound<'_, PyBytes>>, more: bool) -> PyResult<Sent> {
        let stage = self.stage.replace(self.stage.get().after_body(more));
        let mut dialogue = self.dialogue()?;
        let bytes = body.map_or(&[][..], |body| body.as_bytes());
        let keep = || match body {
            Some(body) => Box::new(Kept::new(body)) as _,
            None => Box::new([]) as _,
        };
        if stage == (Response::Started { trailers: false }) && !more {
            let status = self.status.get();
            dialogue
                .respond(status, reason(status), bytes, keep)
                .map_err(|gone| self.gone(gone))?;
            return Ok(Sent::Done);
        }
        self.begin(&mut dialogue, stage, BodySize::Unknown);
        let room = dialogue.write(bytes, keep);
        self.after(&mut dialogue, room)
    }

    fn file(&self, part: FilePart, more: bool) -> PyResult<Sent> {
        let stage = self.stage.replace(self.stage.get().after_body(more));
        let mut dialogue = self.dialogue()?;
        let FilePart { file, offset, length } = part;
        let is_whole = self.stage.get() == Response::Complete;
        let size = if is_whole { BodySize::Known(length) } else { BodySize::Unknown };
        self.begin(&mut dialogue, stage, size);
        let room = dialogue.send_file(file, offset, length);
        self.after(&mut dialogue, room)
    }

    /// Fixes the head, unless it is on its way.
    fn begin(&self, dialogue: &mut Dialogue, stage: Response, size: BodySize) {
        if let Response::Started { .. } = stage {
            let status = self.status.get();
            dialogue.start(status, reason(status), size);
        }
    }

    /// What a part of the body came to.
    fn after(&self, dialogue: &mut Dialogue, room: Result<Room, Gone>) -> PyResult<Sent> {
        let room = room.map_err(|gone| self.gone(gone))?;
        if self.stage.get() == Response::Complete {
            dialogue.finish();
            return Ok(Sent::Done);
        }
        Ok(if room == Room::Full { Sent::Full } else { Sent::Done })
    }

    /// The fields of a start that came before are put aside meanwhile.
    fn early_hint(&self, message: Message<'_, '_>) -> PyResult<Sent> {
        let mut links = ResponseFields::default();
        message.links(&mut links)?;
        let mut dialogue = self.dialogue()?;
        let fields = mem::replace(dialogue.fields(), links);
        dialogue.inform(103, b"Early Hints");
        *dialogue.fields() = fields;
        Ok(Sent::Done)
    }

    fn trailers(&self, message: Message<'_, '_>) -> PyResult<Sent> {
        let mut trailers = self.trailers.take();
        let taken = message.headers(&mut trailers);
        let more = taken.and_then(|()| message.more_trailers())?;
        let mut dialogue = self.dialogue()?;
        self.stage.set(Response::after_trailers(more));
        match more {
            true => drop(self.trailers.replace(trailers)),
            false if takes_trailers(&dialogue) => dialogue.finish_with(&trailers),
            false => dialogue.finish(),
        }
        Ok(Sent::Done)
    }
}

/// Trailers are for those who ask for them (RFC 9110 section 6.5.1; ASGI, "HTTP Trailers").
fn takes_trailers(dialogue: &Dialogue) -> bool {
    let is_trailers = |member: &[u8]| member.eq_ignore_ascii_case(b"trailers");
    dialogue.head().is_some_and(|head| {
        head.values(dialogue.head_bytes(), Known::Te).flat_map(members).any(is_trailers)
    })
}

fn reason(status: u16) -> &'static [u8] {
    Status::new(status).map_or("", Status::reason).as_bytes()
}
