//! A request head as offsets into the buffer it arrived in.

use core::ops::Range;

use crate::error::Error;
use crate::field::{self, Field, Known, KnownSet};
use crate::framing::{self, Framing};
use crate::head::connection;
use crate::head::request_line::{self, Method, Version};
use crate::host;
use crate::limits::Limits;
use crate::span::Span;
use crate::target::{self, Target};
use crate::word;

/// A request head, read by a [`HeadScanner`](super::HeadScanner). Every span is an offset into the
/// buffer given to that. Reused for the next head, it allocates nothing once warm.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RequestHead {
    /// The method.
    pub method: Method,
    /// Where its name is.
    pub method_span: Span,
    /// The request target.
    pub target: Target,
    /// The version the request is read as.
    pub version: Version,
    /// The field lines, in order.
    pub fields: Vec<Field>,
    /// The host the request is for: the authority of an absolute target, which replaces the Host
    /// field (RFC 9112 section 3.2.2), else Host. `None` only in HTTP/1.0; it may be empty.
    pub host: Option<Span>,
    /// What delimits the body.
    pub framing: Framing,
    /// Whether the connection may serve another request after this one.
    pub persistent: bool,
    /// Whether an HTTP/1.0 client asked for `keep-alive`; the answer has to say so too.
    pub keep_alive_requested: bool,
    /// Whether the client waits for `100 Continue` before it sends its body.
    pub expect_continue: bool,
    /// Whether the client offers to change protocol; ignoring that is always allowed.
    pub upgrade: bool,
    /// Which known names are among the fields, so that what is absent need not be looked for.
    seen: KnownSet,
    /// The last Host that was found valid.
    valid_host: Vec<u8>,
}

impl RequestHead {
    /// Forgets the request but keeps the memory for the next.
    pub fn clear(&mut self) {
        let mut fields = core::mem::take(&mut self.fields);
        fields.clear();
        let valid_host = core::mem::take(&mut self.valid_host);
        *self = RequestHead { fields, valid_host, ..RequestHead::default() };
    }

    /// Whether there is a field named `known`.
    pub fn has(&self, known: Known) -> bool {
        self.seen.has_any(KnownSet::of(&[known]))
    }

    /// Whether a known field says for whom the request is made, as proxies do.
    pub fn is_forwarded(&self) -> bool {
        self.seen.has_any(FORWARDED)
    }

    /// The value of the first field named `known`. `buf` is the buffer the head is in.
    pub fn field<'a>(&'a self, buf: &'a [u8], known: Known) -> Option<&'a [u8]> {
        field::values(&self.fields, buf, known).next()
    }

    /// The values of all fields named `known`, in order. `buf` is the buffer the head is in.
    pub fn values<'a>(&'a self, buf: &'a [u8], known: Known) -> impl Iterator<Item = &'a [u8]> {
        field::values(&self.fields, buf, known)
    }

    /// Reads the request line, free of control bytes, at `line` of `buf`, and forgets the fields
    /// of the head before.
    pub(super) fn read_request_line(
        &mut self,
        buf: &[u8],
        line: Range<usize>,
    ) -> Result<(), Error> {
        self.fields.clear();
        self.seen = KnownSet::default();
        let parts = request_line::parse(buf, line)?;
        (self.method, self.version) = (parts.method, parts.version);
        self.method_span = Span::new(parts.method_range);
        (self.target, self.host) = target::parse(buf, parts.target, parts.method)?;
        Ok(())
    }

    /// Reads the field line, free of control bytes other than tabs, at `line` of `buf`.
    ///
    /// A known name needs no check of its bytes, so it is looked up first.
    #[inline]
    pub(super) fn read_field(&mut self, buf: &[u8], line: Range<usize>) -> Result<(), Error> {
        let text = &buf[line.clone()];
        let colon = word::position(text, b':').ok_or(Error::Field)?;
        let (name, rest) = text.split_at(colon);
        let known = Known::lookup(name);
        match known {
            Some(known) => self.seen.insert(known),
            None if field::is_token(name) => {}
            None => return Err(Error::Field),
        }
        let value = Span::locate(buf, field::trim(&rest[1..]));
        self.fields.push(Field { name: Span::new(line.start..line.start + colon), value, known });
        Ok(())
    }

    /// Decides what a complete head means for this server. `buf` is the buffer it is in.
    ///
    /// Framing comes first: a request whose end is in doubt is answered as that, whatever else is
    /// wrong.
    pub fn interpret(&mut self, buf: &[u8], limits: &Limits) -> Result<(), Error> {
        self.framing = match self.seen.has_any(FRAMING) {
            true => framing::decide(self.version, &self.fields, buf)?,
            false => Framing::None,
        };
        self.read_host(buf)?;
        if self.method == Method::Connect {
            return Err(Error::Connect);
        }
        self.read_connection(buf)?;
        match self.framing {
            Framing::Length(length) if length > limits.body => Err(Error::BodyTooLarge),
            _ => Ok(()),
        }
    }

    /// Reads the Host field: exactly one in HTTP/1.1, at most one in HTTP/1.0 (RFC 9112
    /// section 3.2). An authority in the target goes before it, which must be valid all the same.
    fn read_host(&mut self, buf: &[u8]) -> Result<(), Error> {
        let mut lines = self.fields.iter().filter(|field| field.known == Some(Known::Host));
        match (lines.next(), lines.next()) {
            (None, _) if self.version == Version::Http11 => Err(Error::HostMissing),
            (None, _) => Ok(()),
            (Some(line), None) => {
                let (host, value) = (line.value.of(buf), line.value);
                // A server is asked for the same few hosts over and over.
                if *host != *self.valid_host {
                    host::check(host)?;
                    remember(&mut self.valid_host, host);
                }
                self.host.get_or_insert(value);
                Ok(())
            }
            (Some(_), Some(_)) => Err(Error::HostRepeated),
        }
    }

    fn read_connection(&mut self, buf: &[u8]) -> Result<(), Error> {
        let options = match self.seen.has_any(CONNECTION) {
            true => connection::options(&self.fields, buf),
            false => connection::Options::default(),
        };
        let http10 = self.version == Version::Http10;
        self.persistent = !options.close && (!http10 || options.keep_alive);
        self.keep_alive_requested = http10 && self.persistent;
        // Never in HTTP/1.0, and only if Connection says so too (RFC 9110 section 7.8).
        self.upgrade = !http10 && options.upgrade && self.seen.has_any(UPGRADE);
        if self.upgrade {
            connection::check_websocket(self.method, &self.fields, buf)?;
        }
        self.expect_continue = self.seen.has_any(EXPECT) && self.expects_continue(buf)?;
        Ok(())
    }

    /// An HTTP/1.0 client does not know 1xx, and nobody waits who has nothing to send.
    fn expects_continue(&self, buf: &[u8]) -> Result<bool, Error> {
        let expected = connection::expects_continue(&self.fields, buf)?;
        let has_body = !matches!(self.framing, Framing::None | Framing::Length(0));
        Ok(expected && has_body && self.version == Version::Http11)
    }
}

const FRAMING: KnownSet = KnownSet::of(&[Known::ContentLength, Known::TransferEncoding]);
const CONNECTION: KnownSet = KnownSet::of(&[Known::Connection]);
const UPGRADE: KnownSet = KnownSet::of(&[Known::Upgrade]);
const FORWARDED: KnownSet = KnownSet::of(&[
    Known::Forwarded,
    Known::XForwardedFor,
    Known::XForwardedHost,
    Known::XForwardedPort,
    Known::XForwardedPrefix,
    Known::XForwardedProto,
]);
const EXPECT: KnownSet = KnownSet::of(&[Known::Expect]);

/// Keeps `host`, unless it is of a length that none has who asks often.
fn remember(valid_host: &mut Vec<u8>, host: &[u8]) {
    if host.len() <= REMEMBERED_HOST {
        valid_host.clear();
        valid_host.extend_from_slice(host);
    }
}

const REMEMBERED_HOST: usize = 255;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::head::HeadScanner;

    fn read(bytes: &[u8], head: &mut RequestHead) -> Result<(), Error> {
        let length = HeadScanner::default().advance(bytes, &Limits::default(), head)?;
        assert_eq!(length, Some(bytes.len()));
        head.interpret(bytes, &Limits::default())
    }

    #[test]
    fn memory_is_reused_and_nothing_else() -> Result<(), Error> {
        let mut head = RequestHead::default();
        read(
            b"OPTIONS http://b/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-A: b\r\n\r\n",
            &mut head,
        )?;
        let memory = head.fields.as_ptr();
        read(b"GET / HTTP/1.0\r\n\r\n", &mut head)?;
        assert_eq!(head.fields.as_ptr(), memory);
        assert_eq!((head.host, head.fields.len()), (None, 0));
        assert_eq!((head.method, head.target.form), (Method::Get, target::Form::Origin));
        Ok(())
    }
}
