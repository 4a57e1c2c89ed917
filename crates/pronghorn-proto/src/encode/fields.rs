//! The fields an application sets, checked and serialised.

use std::fmt;

/// The fields of one response, serialised as they come. Reuse one value for many responses:
/// [`clear`](Self::clear) keeps the memory.
#[derive(Clone, Debug, Default)]
pub struct ResponseFields {
    bytes: Vec<u8>,
    content_length: Option<u64>,
    date: bool,
    server: bool,
    close: bool,
}

impl ResponseFields {
    /// Forgets every field and keeps the memory.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.content_length = None;
        self.date = false;
        self.server = false;
        self.close = false;
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
        let value = trim_ows(value);
        check_value(name, value)?;
        match Role::of(name) {
            Role::EndToEnd => check_name(name)?,
            Role::Date => self.date = true,
            Role::Server => self.server = true,
            Role::ContentLength => return self.declare_length(name, value),
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

    /// Whether the application asked for the connection to close.
    pub fn asks_close(&self) -> bool {
        self.close
    }

    /// The field lines, each with its CRLF, without Content-Length.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The one field of a response of plain text.
    pub(super) fn plain_text() -> Self {
        Self { bytes: b"Content-Type: text/plain; charset=utf-8\r\n".to_vec(), ..Self::default() }
    }

    fn declare_length(&mut self, name: &[u8], value: &[u8]) -> Result<(), FieldError> {
        let Some(length) = parse_length(value) else {
            return Err(FieldError::new(name, FieldFault::LengthNotANumber));
        };
        match self.content_length {
            Some(first) if first != length => {
                Err(FieldError::new(name, FieldFault::LengthDiffers { first, second: length }))
            }
            _ => {
                self.content_length = Some(length);
                Ok(())
            }
        }
    }

    fn serialise(&mut self, name: &[u8], value: &[u8]) {
        self.bytes.reserve(name.len() + value.len() + 4);
        self.bytes.extend_from_slice(name);
        self.bytes.extend_from_slice(b": ");
        self.bytes.extend_from_slice(value);
        self.bytes.extend_from_slice(b"\r\n");
    }
}

/// A field the server must not send, and why. Its text is a sentence for the developer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldError {
    name: Box<[u8]>,
    fault: FieldFault,
}

impl FieldError {
    /// The name of the field as the application gave it.
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// What is wrong with it.
    pub fn fault(&self) -> FieldFault {
        self.fault
    }

    #[cold]
    fn new(name: &[u8], fault: FieldFault) -> Self {
        Self { name: name.into(), fault }
    }
}

impl fmt::Display for FieldError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the response header '{}' {}", self.name.escape_ascii(), self.fault)
    }
}

impl std::error::Error for FieldError {}

/// What is wrong with a field.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FieldFault {
    /// The name is empty.
    EmptyName,
    /// The name has a byte no token may have.
    NameByte(u8),
    /// The value has a control byte.
    ValueByte(u8),
    /// The Content-Length is not a number of at most 64 bits in plain digits.
    LengthNotANumber,
    /// A second Content-Length differs.
    LengthDiffers {
        /// The one given first.
        first: u64,
        /// The one refused.
        second: u64,
    },
}

impl fmt::Display for FieldFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::EmptyName => f.write_str("has an empty name"),
            Self::NameByte(byte) => {
                write!(f, "has '{}' in its name, which only takes ", byte.escape_ascii())?;
                f.write_str("letters, digits and !#$%&'*+-.^_`|~")
            }
            Self::ValueByte(byte) => {
                let byte = byte.escape_ascii();
                write!(f, "has the control character '{byte}' in its value")
            }
            Self::LengthNotANumber => f.write_str("must be a number in plain digits"),
            Self::LengthDiffers { first, second } => {
                write!(f, "was set twice with different values, {first} and {second}")
            }
        }
    }
}

/// What the server does with a field of this name.
#[derive(Copy, Clone)]
enum Role {
    EndToEnd,
    Date,
    Server,
    ContentLength,
    Connection,
    HopByHop,
}

impl Role {
    /// Looks at the length first, which tells nearly every name apart, then for the usual
    /// spellings, which compare as words.
    #[inline]
    fn of(name: &[u8]) -> Self {
        let is = |known: &[u8]| name.eq_ignore_ascii_case(known);
        match name.len() {
            2 if is(b"te") => Self::HopByHop,
            4 if is(b"date") => Self::Date,
            6 if is(b"server") => Self::Server,
            7 if is(b"trailer") || is(b"upgrade") => Self::HopByHop,
            10 if is(b"connection") => Self::Connection,
            10 if is(b"keep-alive") => Self::HopByHop,
            14 if matches!(name, b"Content-Length" | b"content-length") => Self::ContentLength,
            14 if is(b"content-length") => Self::ContentLength,
            16 if is(b"proxy-connection") => Self::HopByHop,
            17 if is(b"transfer-encoding") => Self::HopByHop,
            _ => Self::EndToEnd,
        }
    }
}

#[inline]
fn check_name(name: &[u8]) -> Result<(), FieldError> {
    if !name.is_empty() && name.iter().fold(true, |all, &byte| all & TOKEN[byte as usize]) {
        return Ok(());
    }
    let bad = name.iter().find(|&&byte| !TOKEN[byte as usize]);
    let fault = bad.map_or(FieldFault::EmptyName, |&byte| FieldFault::NameByte(byte));
    Err(FieldError::new(name, fault))
}

#[inline]
fn check_value(name: &[u8], value: &[u8]) -> Result<(), FieldError> {
    if !may_have_control(value) {
        return Ok(());
    }
    match value.iter().find(|&&byte| byte.is_ascii_control() && byte != b'\t') {
        Some(&byte) => Err(FieldError::new(name, FieldFault::ValueByte(byte))),
        None => Ok(()),
    }
}

/// Whether any byte is below 0x20 (a tab among them) or 0x7F, eight bytes at a time.
#[inline]
fn may_have_control(value: &[u8]) -> bool {
    let Some(last) = value.last_chunk::<8>() else {
        return value.iter().any(u8::is_ascii_control);
    };
    // The last word overlaps the one before it instead of leaving a remainder.
    let (words, _) = value.as_chunks::<8>();
    words.iter().chain([last]).fold(0, |seen, word| seen | controls(*word)) != 0
}

/// Not zero exactly if one of the eight bytes is below 0x20 or is 0x7F.
#[inline]
fn controls(word: [u8; 8]) -> u64 {
    const ONES: u64 = u64::MAX / 0xFF;
    let word = u64::from_ne_bytes(word);
    let below_space = word.wrapping_sub(ONES * 0x20) & !word;
    let delete = word ^ (ONES * 0x7F);
    let is_delete = delete.wrapping_sub(ONES) & !delete;
    (below_space | is_delete) & (ONES * 0x80)
}

#[inline]
fn trim_ows(mut value: &[u8]) -> &[u8] {
    while let [b' ' | b'\t', rest @ ..] | [rest @ .., b' ' | b'\t'] = value {
        value = rest;
    }
    value
}

/// Digits only, RFC 9110 section 8.6; `None` for anything else and beyond 64 bits.
fn parse_length(value: &[u8]) -> Option<u64> {
    if value.is_empty() {
        return None;
    }
    value.iter().try_fold(0_u64, |length, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        length.checked_mul(10)?.checked_add(digit)
    })
}

fn has_close(value: &[u8]) -> bool {
    value.split(|&byte| byte == b',').any(|member| trim_ows(member).eq_ignore_ascii_case(b"close"))
}

/// The bytes of a token, RFC 9110 section 5.6.2.
const TOKEN: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 128 {
        table[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let marks = b"!#$%&'*+-.^_`|~";
    let mut mark = 0;
    while mark < marks.len() {
        table[marks[mark] as usize] = true;
        mark += 1;
    }
    table
};

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
    fn rule_23_control_bytes_in_a_value_are_refused_wherever_they_are() {
        for length in 1..40 {
            for at in 0..length {
                for byte in 0..=255_u8 {
                    let mut value = vec![b'v'; length];
                    value[at] = byte;
                    let refused = byte.is_ascii_control() && byte != b'\t';
                    let expected = refused.then_some(FieldFault::ValueByte(byte));
                    assert_eq!(fault(b"X-Test", &value), expected, "{byte:#x} at {at}/{length}");
                }
            }
        }
        assert_eq!(fault(b"X", b"\x80\xFF\x80\xFF\x80\xFF\x80\xFF\xA0\xE9"), None);
        assert_eq!(fault(b"X", b"a\tb\tc\td\te\n"), Some(FieldFault::ValueByte(b'\n')));
    }

    #[test]
    fn rule_23_control_bytes_are_refused_in_dropped_fields_too() {
        for name in [&b"Connection"[..], b"TE", b"Date", b"Server", b"Content-Length"] {
            assert_eq!(fault(name, b"1\r\nX: y"), Some(FieldFault::ValueByte(b'\r')));
        }
    }

    #[test]
    fn rule_23_names_are_tokens() {
        assert_eq!(fault(b"", b"x"), Some(FieldFault::EmptyName));
        for byte in 0..=255_u8 {
            let token = byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
            let expected = (!token).then_some(FieldFault::NameByte(byte));
            assert_eq!(fault(&[b'X', byte, b'Y'], b"v"), expected, "{byte:#x}");
            assert_eq!(fault(&[byte], b"v"), expected, "{byte:#x}");
        }
    }

    #[test]
    fn errors_name_the_field_and_the_fault() {
        let table: [(&[u8], &[u8], &str); 5] = [
            (b"X-A", b"1\r\n", "the response header 'X-A' has the control character '\\r' in"),
            (b"X A", b"1", "the response header 'X A' has ' ' in its name"),
            (b"X\r\nB", b"1", "the response header 'X\\r\\nB' has '\\r' in its name"),
            (b"", b"1", "the response header '' has an empty name"),
            (b"Content-Length", b"ten", "'Content-Length' must be a number"),
        ];
        for (name, value, text) in table {
            let error = ResponseFields::default().push(name, value).expect_err("refused");
            assert_eq!(error.name(), name);
            assert!(error.to_string().contains(text), "{error}");
        }
    }
}
