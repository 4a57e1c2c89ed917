//! Close frames: codes and reasons (RFC 6455 sections 5.5.1 and 7.4).

use super::fault::Fault;

/// What a close frame says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Close {
    /// The code; [`NO_CODE`] if the frame has none.
    pub code: u16,
    /// The reason, which may be empty.
    pub reason: String,
}

/// Stands for a close frame without a code. It is never sent.
pub const NO_CODE: u16 = 1005;

/// Stands for a connection that ended without a close frame. It is never sent.
pub const ABNORMAL: u16 = 1006;

/// The longest reason there is room for, in bytes.
pub const LONGEST_REASON: usize = 123;

impl Close {
    /// Reads the payload of a close frame.
    pub(super) fn parse(payload: &[u8]) -> Result<Close, Fault> {
        let (code, reason) = match payload {
            [] => (NO_CODE, &[][..]),
            [high, low, reason @ ..] => (u16::from_be_bytes([*high, *low]), reason),
            [_] => return Err(Fault::CloseCode),
        };
        if !payload.is_empty() && !may_be_received(code) {
            return Err(Fault::CloseCode);
        }
        let reason = str::from_utf8(reason).map_err(|_| Fault::Utf8)?;
        Ok(Close { code, reason: reason.to_owned() })
    }
}

/// Whether a client may send `code`: those that are registered, and those of libraries and
/// applications.
pub fn may_be_received(code: u16) -> bool {
    matches!(code, 1000..=1003 | 1007..=1014 | 3000..=4999)
}

/// Whether an application may close with `code`. 1010 is for clients only (RFC 6455 section 7.4.1):
/// a server just echoes it.
pub fn may_be_sent(code: u16) -> bool {
    may_be_received(code) && code != 1010
}

/// The payload of a close frame. `reason` is cut to what there is room for, at the end of a
/// character. [`NO_CODE`] makes an empty payload, which has no reason either; any other `code` is
/// one that [`may_be_received`].
pub(super) fn payload(code: u16, reason: &str) -> Vec<u8> {
    if code == NO_CODE {
        return Vec::new();
    }
    debug_assert!(may_be_received(code), "close code {code}");
    [&code.to_be_bytes(), cut(reason).as_bytes()].concat()
}

fn cut(reason: &str) -> &str {
    let mut end = reason.len().min(LONGEST_REASON);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    &reason[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payloads_are_read() {
        let close = |code, reason: &str| Ok(Close { code, reason: reason.to_owned() });
        let table: [(&[u8], Result<Close, Fault>); 9] = [
            (b"", close(1005, "")),
            (b"\x03\xe8", close(1000, "")),
            (b"\x0f\xa1bye \xc3\xa9", close(4001, "bye é")),
            (b"\x03", Err(Fault::CloseCode)),
            (b"\x03\xed", Err(Fault::CloseCode)),
            (b"\x03\xe7", Err(Fault::CloseCode)),
            (b"\x03\xe8\xff", Err(Fault::Utf8)),
            (b"\x03\xe8\xc3", Err(Fault::Utf8)),
            (b"\x03\xed\xff", Err(Fault::CloseCode)),
        ];
        for (payload, expected) in table {
            assert_eq!(Close::parse(payload), expected, "{}", payload.escape_ascii());
        }
    }

    #[test]
    fn codes_are_those_of_the_registry_and_of_applications() {
        for code in [1000, 1001, 1003, 1007, 1011, 1012, 1014, 3000, 3999, 4000, 4999] {
            assert!(may_be_received(code) && may_be_sent(code), "{code}");
        }
        for code in [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535] {
            assert!(!may_be_received(code) && !may_be_sent(code), "{code}");
        }
        assert!(may_be_received(1010) && !may_be_sent(1010));
    }

    #[test]
    fn reasons_are_cut_at_a_character() {
        assert_eq!(payload(1000, "bye"), b"\x03\xe8bye");
        assert_eq!(payload(NO_CODE, "bye"), b"");
        assert_eq!(payload(1010, ""), b"\x03\xF2");
        assert_eq!(payload(1000, &"a".repeat(200)).len(), 125);
        let cut = payload(1000, &"é".repeat(100));
        assert_eq!((cut.len(), str::from_utf8(&cut[2..]).is_ok()), (124, true));
    }
}
