//! The parts of a WebSocket's messages.

use pronghorn_proto::{encode::ResponseFields, field, websocket};
use pyo3::{
    exceptions::PyValueError,
    prelude::*,
    types::{PyBytes, PyString},
};

use super::Message;

/// What `websocket.send` sends.
pub(in crate::asgi) enum Data<'py> {
    /// Binary.
    Bytes(Bound<'py, PyBytes>),
    /// Text.
    Text(Bound<'py, PyString>),
}

impl<'py> Message<'_, 'py> {
    /// The subprotocol that the application chose.
    ///
    /// # Errors
    /// `TypeError`, or `ValueError` when it is no token.
    pub(in crate::asgi) fn subprotocol(&self) -> PyResult<Option<Bound<'py, PyString>>> {
        let Some(name) = self.given(&self.words.subprotocol)? else { return Ok(None) };
        let name = self.string(name, "subprotocol")?;
        match name.to_cow().is_ok_and(|name| field::is_token(name.as_bytes())) {
            true => Ok(Some(name)),
            false => Err(self.invalid("subprotocol", "must be one of those in the scope")),
        }
    }

    /// The headers of the answer to a handshake, put into `fields`.
    ///
    /// # Errors
    /// As for [`headers`](Message::headers); those of the handshake itself are the server's.
    pub(in crate::asgi) fn handshake_headers(&self, fields: &mut ResponseFields) -> PyResult<()> {
        self.headers(fields)?;
        let mut names = fields.bytes().split(|byte| *byte == b'\n');
        match names.any(|line| starts_with(line, b"sec-websocket-")) {
            false => Ok(()),
            true => Err(PyValueError::new_err(format!(
                "{}: headers whose names begin with Sec-WebSocket- are the server's; the key 'subprotocol' chooses one",
                self.name
            ))),
        }
    }

    /// What is sent: bytes or text.
    ///
    /// # Errors
    /// `TypeError`, or `ValueError` when it is both or neither.
    #[inline]
    pub(in crate::asgi) fn data(&self) -> PyResult<Data<'py>> {
        let (bytes, text) = (self.given(&self.words.bytes)?, self.given(&self.words.text)?);
        match (bytes, text) {
            (Some(bytes), None) => self.octets(bytes, "bytes").map(Data::Bytes),
            (None, Some(text)) => self.string(text, "text").map(Data::Text),
            (Some(_), Some(_)) => Err(self.of_two("not both")),
            (None, None) => Err(self.of_two("and has neither")),
        }
    }

    /// The code and the reason of a close. A reason that no frame has room for is cut when it is sent.
    ///
    /// # Errors
    /// `TypeError` or `ValueError`.
    pub(in crate::asgi) fn close(&self) -> PyResult<(u16, String)> {
        let code = match self.given(&self.words.code)? {
            Some(code) => self.close_code(self.integer(&code, "code")?)?,
            None => NORMAL,
        };
        let reason = match self.given(&self.words.reason)? {
            Some(reason) => self.string(reason, "reason")?.to_str()?.to_owned(),
            None => String::new(),
        };
        Ok((code, reason))
    }

    fn close_code(&self, code: i64) -> PyResult<u16> {
        let sent = u16::try_from(code).ok().filter(|code| websocket::close::may_be_sent(*code));
        sent.ok_or_else(|| {
            let codes = "1000 to 1003, 1007 to 1009, 1011 to 1014 or 3000 to 4999";
            self.invalid("code", format_args!("must be {codes} (RFC 6455 section 7.4), not {code}"))
        })
    }

    #[cold]
    fn of_two(&self, what: &str) -> PyErr {
        PyValueError::new_err(format!("{} needs 'bytes' or 'text', {what}", self.name))
    }
}

fn starts_with(line: &[u8], name: &[u8]) -> bool {
    line.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
}

/// RFC 6455 section 7.4.1: it has done what it was for.
const NORMAL: u16 = 1000;
