//! Status codes, their reason phrases, and the status string of PEP 3333.

use std::fmt;

/// A status code from 100 to 599 (RFC 9110 section 15).
#[derive(Copy, Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Status(u16);

impl Status {
    /// Gives the status for `code`, or `None` outside 100 to 599.
    pub const fn new(code: u16) -> Option<Self> {
        if matches!(code, 100..=599) { Some(Self(code)) } else { None }
    }

    /// The three-digit code.
    pub const fn code(self) -> u16 {
        self.0
    }

    /// The registered reason phrase; empty for a code that has none, which RFC 9112 section 4
    /// allows on the wire.
    pub const fn reason(self) -> &'static str {
        match self.0 {
            100..=199 => informational(self.0),
            200..=299 => successful(self.0),
            300..=399 => redirection(self.0),
            400..=499 => client_error(self.0),
            _ => server_error(self.0),
        }
    }
}

/// The status string a WSGI application gives to `start_response`, checked: `"200 OK"`.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
pub struct StatusLine<'a> {
    code: Status,
    reason: &'a [u8],
}

impl<'a> StatusLine<'a> {
    /// Parses three digits (100 to 599), one space and a reason that is not empty (PEP 3333,
    /// "The start_response() Callable").
    ///
    /// # Errors
    /// A [`StatusError`] that says which part is missing or wrong.
    pub fn parse(status: &'a [u8]) -> Result<Self, StatusError> {
        let (digits, rest) = status.split_first_chunk::<3>().ok_or(StatusError::NoCode)?;
        let code = parse_code(digits)?;
        let reason = match rest {
            [b' ', reason @ ..] => reason,
            [] => return Err(StatusError::NoReason),
            [b'0'..=b'9', ..] => return Err(StatusError::LongCode),
            [byte, ..] => return Err(StatusError::NoSpace { byte: *byte }),
        };
        check_reason(reason)?;
        Ok(Self { code, reason })
    }

    /// The code, 100 to 599.
    pub fn code(&self) -> u16 {
        self.code.code()
    }

    /// The reason as given: not empty, without control bytes.
    pub fn reason(&self) -> &'a [u8] {
        self.reason
    }
}

/// What is wrong with a status string.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StatusError {
    /// It does not begin with three digits.
    NoCode,
    /// The code has more than three digits.
    LongCode,
    /// The code is below 100 or above 599.
    OutOfRange {
        /// The code given.
        code: u16,
    },
    /// Something other than a space follows the code.
    NoSpace {
        /// The byte that follows instead.
        byte: u8,
    },
    /// More than one space follows the code.
    ManySpaces,
    /// No reason follows the code.
    NoReason,
    /// The reason has a control byte, CR and LF among them.
    Control {
        /// The byte.
        byte: u8,
    },
}

impl fmt::Display for StatusError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::NoCode => f.write_str("the status must begin with three digits, as in '200 OK'"),
            Self::LongCode => {
                f.write_str("the status code must have exactly three digits, as in '200 OK'")
            }
            Self::OutOfRange { code } => {
                write!(f, "the status code {code:03} is not between 100 and 599")
            }
            Self::NoSpace { byte } => write!(
                f,
                "the status code must be followed by one space, not by '{}'",
                byte.escape_ascii()
            ),
            Self::ManySpaces => f.write_str("the status code must be followed by only one space"),
            Self::NoReason => f.write_str(
                "the status must have a reason after the code and a space, as in '200 OK'",
            ),
            Self::Control { byte } => write!(
                f,
                "the status has the control character '{}', which could forge a header",
                byte.escape_ascii()
            ),
        }
    }
}

impl std::error::Error for StatusError {}

fn parse_code(digits: &[u8; 3]) -> Result<Status, StatusError> {
    if !digits.iter().all(u8::is_ascii_digit) {
        return Err(StatusError::NoCode);
    }
    let [hundreds, tens, ones] = digits.map(|digit| u16::from(digit - b'0'));
    let code = hundreds * 100 + tens * 10 + ones;
    Status::new(code).ok_or(StatusError::OutOfRange { code })
}

fn check_reason(reason: &[u8]) -> Result<(), StatusError> {
    if let Some(&byte) = reason.iter().find(|byte| byte.is_ascii_control()) {
        return Err(StatusError::Control { byte });
    }
    match reason {
        [] => Err(StatusError::NoReason),
        [b' ', rest @ ..] if rest.iter().all(|&byte| byte == b' ') => Err(StatusError::NoReason),
        [b' ', ..] => Err(StatusError::ManySpaces),
        _ => Ok(()),
    }
}

const fn informational(code: u16) -> &'static str {
    match code {
        100 => "Continue",
        101 => "Switching Protocols",
        102 => "Processing",
        103 => "Early Hints",
        _ => "",
    }
}

const fn successful(code: u16) -> &'static str {
    match code {
        200 => "OK",
        201 => "Created",
        202 => "Accepted",
        203 => "Non-Authoritative Information",
        204 => "No Content",
        205 => "Reset Content",
        206 => "Partial Content",
        207 => "Multi-Status",
        208 => "Already Reported",
        226 => "IM Used",
        _ => "",
    }
}

const fn redirection(code: u16) -> &'static str {
    match code {
        300 => "Multiple Choices",
        301 => "Moved Permanently",
        302 => "Found",
        303 => "See Other",
        304 => "Not Modified",
        305 => "Use Proxy",
        307 => "Temporary Redirect",
        308 => "Permanent Redirect",
        _ => "",
    }
}

const fn client_error(code: u16) -> &'static str {
    match code {
        400 => "Bad Request",
        401 => "Unauthorized",
        402 => "Payment Required",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        407 => "Proxy Authentication Required",
        408 => "Request Timeout",
        409 => "Conflict",
        410 => "Gone",
        411 => "Length Required",
        412 => "Precondition Failed",
        413 => "Content Too Large",
        414 => "URI Too Long",
        415 => "Unsupported Media Type",
        416 => "Range Not Satisfiable",
        417 => "Expectation Failed",
        418 => "I'm a teapot",
        421 => "Misdirected Request",
        422 => "Unprocessable Content",
        423 => "Locked",
        424 => "Failed Dependency",
        425 => "Too Early",
        426 => "Upgrade Required",
        428 => "Precondition Required",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        451 => "Unavailable For Legal Reasons",
        _ => "",
    }
}

const fn server_error(code: u16) -> &'static str {
    match code {
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        505 => "HTTP Version Not Supported",
        506 => "Variant Also Negotiates",
        507 => "Insufficient Storage",
        508 => "Loop Detected",
        510 => "Not Extended",
        511 => "Network Authentication Required",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_100_to_599_is_a_status() {
        for (code, valid) in [(0, false), (99, false), (100, true), (599, true), (600, false)] {
            assert_eq!(Status::new(code).map(Status::code), valid.then_some(code), "{code}");
        }
    }

    #[test]
    fn registered_codes_have_their_reason() {
        let table = [
            (100, "Continue"),
            (200, "OK"),
            (204, "No Content"),
            (304, "Not Modified"),
            (404, "Not Found"),
            (413, "Content Too Large"),
            (418, "I'm a teapot"),
            (422, "Unprocessable Content"),
            (425, "Too Early"),
            (426, "Upgrade Required"),
            (428, "Precondition Required"),
            (429, "Too Many Requests"),
            (431, "Request Header Fields Too Large"),
            (451, "Unavailable For Legal Reasons"),
            (500, "Internal Server Error"),
            (511, "Network Authentication Required"),
            (299, ""),
            (599, ""),
        ];
        for (code, reason) in table {
            assert_eq!(Status::new(code).map(Status::reason), Some(reason), "{code}");
        }
    }

    #[test]
    fn status_strings_of_applications_are_kept() {
        let table: [(&[u8], u16, &[u8]); 6] = [
            (b"200 OK", 200, b"OK"),
            (b"299 My Reason", 299, b"My Reason"),
            (b"100 Continue", 100, b"Continue"),
            (b"599 x", 599, b"x"),
            (b"200 caf\xE9", 200, b"caf\xE9"),
            (b"404 404", 404, b"404"),
        ];
        for (given, code, reason) in table {
            let line = StatusLine::parse(given).expect("a valid status");
            assert_eq!((line.code(), line.reason()), (code, reason));
        }
    }

    #[test]
    fn rule_23_a_bad_status_string_is_refused_with_what_is_wrong() {
        let table: [(&[u8], StatusError); 19] = [
            (b"", StatusError::NoCode),
            (b"20", StatusError::NoCode),
            (b"abc", StatusError::NoCode),
            (b"OK 200", StatusError::NoCode),
            (b" 200 OK", StatusError::NoCode),
            (b"+20 OK", StatusError::NoCode),
            (b"200", StatusError::NoReason),
            (b"200 ", StatusError::NoReason),
            (b"200   ", StatusError::NoReason),
            (b"200  OK", StatusError::ManySpaces),
            (b"200\tOK", StatusError::NoSpace { byte: b'\t' }),
            (b"200-OK", StatusError::NoSpace { byte: b'-' }),
            (b"099 Low", StatusError::OutOfRange { code: 99 }),
            (b"600 High", StatusError::OutOfRange { code: 600 }),
            (b"1000 Big", StatusError::LongCode),
            (b"200 OK\r\nX: y", StatusError::Control { byte: b'\r' }),
            (b"200 OK\n", StatusError::Control { byte: b'\n' }),
            (b"200 \0", StatusError::Control { byte: 0 }),
            (b"200 O\x7FK", StatusError::Control { byte: 0x7F }),
        ];
        for (given, error) in table {
            assert_eq!(StatusLine::parse(given), Err(error), "{}", given.escape_ascii());
        }
    }

    #[test]
    fn errors_are_sentences_that_show_the_part() {
        let table = [
            (StatusError::OutOfRange { code: 99 }, "099"),
            (StatusError::Control { byte: b'\r' }, "'\\r'"),
            (StatusError::NoSpace { byte: b'-' }, "'-'"),
            (StatusError::NoReason, "reason"),
        ];
        for (error, part) in table {
            assert!(error.to_string().contains(part), "{error}");
        }
    }
}
