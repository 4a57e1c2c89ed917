//! The fields an application sets, checked and serialised.

use super::field_error::{FieldError, FieldFault};
use super::octets::{check_name, check_value, parse_length};
use crate::field;

/// The fields of one response, serialised as they come. Reuse one value for many responses:
/// [`clear`](Self::clear) keeps the memory.
#[derive(Clone, Debug, Default)]
pub struct ResponseFields {
    bytes: Vec<u8>,
    content_length: Option<u64>,
    date: bool,
    server: bool,
    request_id: bool,
    close: bool,
    upgrade: bool,
}

impl ResponseFields {
    /// Forgets every field and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.content_length = None;
        self.date = false;
        self.server = false;
        self.request_id = false;
        self.close = false;
        self.upgrade = false;
    }

    /// Takes one field. White space around the value is trimmed. Content-Length is noted for the
    /// head encoder; fields that belong to the connection are dropped, as they are the server's
    /// to set (PEP 3333, "Other HTTP Features"), but a `close` in Connection is honoured.
    ///
    /// # Errors
    /// A [`FieldError`] that names the field: its name is not a token (RFC 9110 section 5.6.2),
    /// its value has a control byte other than a tab (section 5.5), or it is a Content-Length that is
    /// not a number or differs from an earlier one. Nothing is taken then.
    pub fn push(&mut self, name: &[u8], value: &[u8]) -> Result<(), FieldError> {
        let value = field::trim(value);
        check_value(name, value)?;
        match Role::of(name) {
            Role::ContentType => {
                self.serialise(b"Content-Type", value);
                return Ok(());
            }
            Role::ContentLength => return self.declare_length(name, value),
            Role::EndToEnd => check_name(name)?,
            Role::Date => self.date = true,
            Role::Server => self.server = true,
            Role::RequestId => self.request_id = true,
            Role::Connection => {
                self.close |= has_close(value);
                return Ok(());
            }
            Role::HopByHop => return Ok(()),
        }
        self.serialise(name, value);
        Ok(())
    }

    /// The length the application declared.
    pub fn content_length(&self) -> Option<u64> {
        self.content_length
    }

    /// Whether the application set its own Date.
    pub fn has_date(&self) -> bool {
        self.date
    }

    /// Whether the application set its own Server.
    pub fn has_server(&self) -> bool {
        self.server
    }

    /// Whether the application set its own X-Request-ID.
    pub fn has_request_id(&self) -> bool {
        self.request_id
    }

    /// Whether the application asked for the connection to close.
    pub fn asks_close(&self) -> bool {
        self.close
    }

    /// Whether the response says what to upgrade to, which only the server's own do.
    pub(super) fn has_upgrade(&self) -> bool {
        self.upgrade
    }

    /// The field lines, each with its CRLF, without Content-Length.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The fields of a response of plain text that the server makes itself. Unlike an application it may set those of the connection.
    pub(super) fn of_refusal(others: &[(&str, &str)]) -> Self {
        let mut fields = Self::default();
        fields.serialise(b"Content-Type", b"text/plain; charset=utf-8");
        for (name, value) in others {
            fields.upgrade |= *name == "Upgrade";
            fields.serialise(name.as_bytes(), value.as_bytes());
        }
        fields
    }

    fn declare_length(&mut self, name: &[u8], value: &[u8]) -> Result<(), FieldError> {
        let Some(length) = parse_length(value) else {
            return Err(FieldError::new(name, FieldFault::LengthNotANumber));
        };
        let first = *self.content_length.get_or_insert(length);
        match first == length {
            true => Ok(()),
            false => {
                Err(FieldError::new(name, FieldFault::LengthDiffers { first, second: length }))
            }
        }
    }

    /// Inlined, as a name that is a constant is then copied as words.
    #[inline(always)]
    fn serialise(&mut self, name: &[u8], value: &[u8]) {
        self.bytes.reserve(name.len() + value.len() + 4);
        self.bytes.extend_from_slice(name);
        self.bytes.extend_from_slice(b": ");
        self.bytes.extend_from_slice(value);
        self.bytes.extend_from_slice(b"\r\n");
    }
}

/// What the server does with a field of this name.
#[derive(Copy, Clone)]
enum Role {
    EndToEnd,
    /// End-to-end too, in its usual spelling. Nearly every response has it, so its name is not
    /// checked, and written without a call.
    ContentType,
    Date,
    Server,
    RequestId,
    ContentLength,
    Connection,
    HopByHop,
}

impl Role {
    /// The usual spellings compare as words; of the others the length tells nearly all apart.
    #[inline]
    fn of(name: &[u8]) -> Self {
        if name == b"Content-Type" {
            return Self::ContentType;
        }
        if name == b"Content-Length" || name == b"content-length" {
            return Self::ContentLength;
        }
        let is = |known: &[u8]| name.eq_ignore_ascii_case(known);
        match name.len() {
            2 if is(b"te") => Self::HopByHop,
            4 if is(b"date") => Self::Date,
            6 if is(b"server") => Self::Server,
            7 if is(b"trailer") || is(b"upgrade") => Self::HopByHop,
            10 if is(b"connection") => Self::Connection,
            10 if is(b"keep-alive") => Self::HopByHop,
            12 if is(b"x-request-id") => Self::RequestId,
            14 if is(b"content-length") => Self::ContentLength,
            16 if is(b"proxy-connection") => Self::HopByHop,
            17 if is(b"transfer-encoding") => Self::HopByHop,
            _ => Self::EndToEnd,
        }
    }
}

fn has_close(value: &[u8]) -> bool {
    field::members(value).any(|member| member.eq_ignore_ascii_case(b"close"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(pairs: &[(&[u8], &[u8])]) -> ResponseFields {
        let mut fields = ResponseFields::default();
        for (name, value) in pairs {
            fields.push(name, value).expect("a valid field");
        }
        fields
    }

    fn fault(name: &[u8], value: &[u8]) -> Option<FieldFault> {
        let mut fields = ResponseFields::default();
        let fault = fields.push(name, value).err().map(|error| error.fault());
        assert!(fault.is_none() || fields.bytes().is_empty(), "a refused field leaves a trace");
        fault
    }

    #[test]
    fn fields_are_serialised_in_order_and_trimmed() {
        let fields = fields(&[
            (b"Content-Type", b"text/plain"),
            (b"X-Empty", b""),
            (b"X-Blank", b" \t "),
            (b"Set-Cookie", b" \ta=1; b=\t2 \t"),
            (b"Set-Cookie", b"caf\xC3\xA9\xFF"),
        ]);
        assert_eq!(
            fields.bytes().escape_ascii().to_string(),
            "Content-Type: text/plain\\r\\nX-Empty: \\r\\nX-Blank: \\r\\n\
             Set-Cookie: a=1; b=\\t2\\r\\nSet-Cookie: caf\\xc3\\xa9\\xff\\r\\n"
        );
    }

    #[test]
    fn clear_forgets_all() {
        let pairs: [(&[u8], &[u8]); 5] = [
            (b"Date", b"x"),
            (b"Server", b"x"),
            (b"Connection", b"close"),
            (b"Content-Length", b"3"),
            (b"X", b"y"),
        ];
        let mut fields = fields(&pairs);
        assert!(fields.has_date() && fields.has_server() && fields.asks_close());
        assert_eq!(fields.content_length(), Some(3));
        fields.clear();
        assert!(!fields.has_date() && !fields.has_server() && !fields.asks_close());
        assert_eq!((fields.content_length(), fields.bytes()), (None, &b""[..]));
    }

    #[test]
    fn rule_23_hop_by_hop_fields_are_dropped() {
        let names = "Connection Keep-Alive PROXY-connection transfer-encoding te Trailer upgrade";
        for name in names.split(' ') {
            let fields = fields(&[(name.as_bytes(), b"chunked")]);
            assert_eq!(fields.bytes(), b"", "{name}");
            assert!(!fields.asks_close());
        }
        for name in ["TX", "Dato", "Servar", "Trailed", "Upgrades", "Connectiom", "Keep_Alive"] {
            assert!(fields(&[(name.as_bytes(), b"x")]).bytes().starts_with(name.as_bytes()));
        }
    }

    #[test]
    fn a_close_member_of_connection_is_remembered() {
        let table: [(&[u8], bool); 6] = [
            (b"close", true),
            (b"keep-alive, CLOSE", true),
            (b" foo ,\tClose ,", true),
            (b"keep-alive", false),
            (b"closed", false),
            (b"", false),
        ];
        for (value, close) in table {
            assert_eq!(fields(&[(b"connection", value)]).asks_close(), close);
        }
        assert!(fields(&[(b"Connection", b"close"), (b"Connection", b"x")]).asks_close());
    }

    #[test]
    fn content_length_is_digits_only() {
        let table: [(&[u8], Option<u64>); 13] = [
            (b"0", Some(0)),
            (b" 13\t", Some(13)),
            (b"007", Some(7)),
            (b"18446744073709551615", Some(u64::MAX)),
            (b"18446744073709551616", None),
            (b"99999999999999999999999", None),
            (b"", None),
            (b"+1", None),
            (b"-1", None),
            (b"1_0", None),
            (b"1 0", None),
            (b"5, 5", None),
            (b"\xB2", None),
        ];
        for (value, length) in table {
            let mut fields = ResponseFields::default();
            for name in [&b"Content-Length"[..], b"content-length", b"CONTENT-length"] {
                fields.clear();
                let pushed = fields.push(name, value);
                assert_eq!((pushed.is_ok(), fields.content_length()), (length.is_some(), length));
                assert_eq!(fields.bytes(), b"");
            }
        }
    }

    #[test]
    fn rule_23_a_second_content_length_must_agree() {
        let mut fields = fields(&[(b"Content-Length", b"5"), (b"content-length", b"05")]);
        let error = fields.push(b"Content-LENGTH", b"6").expect_err("they differ");
        assert_eq!(error.fault(), FieldFault::LengthDiffers { first: 5, second: 6 });
        assert_eq!(fields.content_length(), Some(5));
    }

    #[test]
    fn rule_23_control_bytes_are_refused_in_dropped_fields_too() {
        for name in [&b"Connection"[..], b"TE", b"Date", b"Server", b"Content-Length"] {
            assert_eq!(fault(name, b"1\r\nX: y"), Some(FieldFault::ValueByte(b'\r')));
        }
    }
}
