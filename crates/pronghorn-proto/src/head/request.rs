//! A request head as offsets into the buffer it arrived in.

use crate::error::Error;
use crate::field::{self, Field, Known};
use crate::framing::{self, Framing};
use crate::head::connection;
use crate::head::request_line::{self, Method, Version};
use crate::host;
use crate::limits::Limits;
use crate::span::Span;
use crate::target::{self, Target};

/// A parsed request head. Every span is an offset into the head given to [`RequestHead::parse`].
#[derive(Clone, Debug, Default)]
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
}

impl RequestHead {
    /// Parses `head`, as a `HeadScanner` delimited it: its line ends and sizes are not checked
    /// again. Spans are offsets into `head`.
    ///
    /// Replaces what was parsed before and reuses its memory: once warm it allocates nothing.
    /// After an error the contents are of no use.
    pub fn parse(&mut self, head: &[u8], limits: &Limits) -> Result<(), Error> {
        self.clear();
        let start = if head.starts_with(CRLF) { CRLF.len() } else { 0 };
        let length = memchr::memchr(b'\r', &head[start..]).ok_or(Error::RequestLine)?;
        let end = start + length;
        let authority = self.parse_request_line(head, start, end)?;
        if !head[end..].starts_with(CRLF) {
            return Err(Error::BareLineEnd);
        }
        self.parse_fields(head, end + CRLF.len())?;
        self.interpret(head, authority, limits)
    }

    /// Forgets the request but keeps the memory for the next.
    pub fn clear(&mut self) {
        let mut fields = core::mem::take(&mut self.fields);
        fields.clear();
        *self = RequestHead { fields, ..RequestHead::default() };
    }

    /// The value of the first field named `known`. `buf` is the buffer the head is in.
    pub fn field<'a>(&'a self, buf: &'a [u8], known: Known) -> Option<&'a [u8]> {
        field::values(&self.fields, buf, known).next()
    }

    /// The values of all fields named `known`, in order. `buf` is the buffer the head is in.
    pub fn values<'a>(&'a self, buf: &'a [u8], known: Known) -> impl Iterator<Item = &'a [u8]> {
        field::values(&self.fields, buf, known)
    }

    /// Reads the request line in `head[start..end]`; gives the authority in its target.
    fn parse_request_line(
        &mut self,
        head: &[u8],
        start: usize,
        end: usize,
    ) -> Result<Option<Span>, Error> {
        let line = request_line::parse(&head[start..end])?;
        let method = start + line.method.start..start + line.method.end;
        self.method = Method::from_bytes(&head[method.clone()]);
        self.method_span = Span::new(method);
        self.version = line.version;
        let target = start + line.target.start..start + line.target.end;
        let (target, authority) = target::parse(head, target, self.method)?;
        self.target = target;
        Ok(authority)
    }

    /// Reads the field lines from `start` on. Most heads have few; the rare others are read again
    /// with room for all that the scanner lets through.
    fn parse_fields(&mut self, head: &[u8], start: usize) -> Result<(), Error> {
        match self.parse_fields_up_to::<FEW_FIELDS>(head, start) {
            Err(Error::TooManyFields) => {
                self.parse_fields_up_to::<{ Limits::MAX_FIELD_COUNT }>(head, start)
            }
            result => result,
        }
    }

    fn parse_fields_up_to<const N: usize>(
        &mut self,
        head: &[u8],
        start: usize,
    ) -> Result<(), Error> {
        let mut tokens = [httparse::EMPTY_HEADER; N];
        let lines = match httparse::parse_headers(&head[start..], &mut tokens) {
            Ok(httparse::Status::Complete((_, lines))) => lines,
            Err(httparse::Error::TooManyHeaders) => return Err(Error::TooManyFields),
            Ok(httparse::Status::Partial) | Err(_) => return Err(Error::Field),
        };
        self.fields.extend(lines.iter().map(|line| Field {
            name: Span::locate(head, line.name.as_bytes()),
            value: Span::locate(head, line.value),
            known: Known::lookup(line.name.as_bytes()),
        }));
        Ok(())
    }

    /// Decides what the fields mean for this server. Framing comes first: a request whose end is
    /// in doubt is answered as that, whatever else is wrong.
    fn interpret(
        &mut self,
        head: &[u8],
        authority: Option<Span>,
        limits: &Limits,
    ) -> Result<(), Error> {
        self.framing = framing::decide(self.version, &self.fields, head)?;
        self.host = authority.or(self.host_field(head)?);
        if self.method == Method::Connect {
            return Err(Error::Connect);
        }
        self.read_connection(head)?;
        match self.framing {
            Framing::Length(length) if length > limits.body => Err(Error::BodyTooLarge),
            _ => Ok(()),
        }
    }

    /// The Host field: exactly one in HTTP/1.1, at most one in HTTP/1.0 (RFC 9112 section 3.2).
    fn host_field(&self, head: &[u8]) -> Result<Option<Span>, Error> {
        let mut lines = self.fields.iter().filter(|field| field.known == Some(Known::Host));
        match (lines.next(), lines.next()) {
            (None, _) if self.version == Version::Http11 => Err(Error::HostMissing),
            (None, _) => Ok(None),
            (Some(line), None) => host::check(line.value.of(head)).map(|()| Some(line.value)),
            (Some(_), Some(_)) => Err(Error::HostRepeated),
        }
    }

    fn read_connection(&mut self, head: &[u8]) -> Result<(), Error> {
        let options = connection::options(&self.fields, head);
        let http10 = self.version == Version::Http10;
        self.persistent = !options.close && (!http10 || options.keep_alive);
        self.keep_alive_requested = http10 && self.persistent;
        self.upgrade = connection::offers_upgrade(self.version, options, &self.fields);
        if self.upgrade {
            connection::check_websocket(self.method, &self.fields, head)?;
        }
        // An HTTP/1.0 client does not know 1xx, and nobody waits who has nothing to send.
        let expected = connection::expects_continue(&self.fields, head)?;
        let has_body = !matches!(self.framing, Framing::None | Framing::Length(0));
        self.expect_continue = expected && has_body && !http10;
        Ok(())
    }
}

const CRLF: &[u8] = b"\r\n";

/// Room for the field lines of nearly every head that browsers and programs send.
const FEW_FIELDS: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_reused_and_nothing_else() -> Result<(), Error> {
        let limits = Limits::default();
        let mut head = RequestHead::default();
        head.parse(
            b"OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-A: b\r\n\r\n",
            &limits,
        )?;
        let memory = head.fields.as_ptr();
        head.parse(b"GET / HTTP/1.0\r\n\r\n", &limits)?;
        assert_eq!(head.fields.as_ptr(), memory);
        assert_eq!((head.host, head.fields.len()), (None, 0));
        assert_eq!((head.method, head.target.form), (Method::Get, target::Form::Origin));
        Ok(())
    }
}
