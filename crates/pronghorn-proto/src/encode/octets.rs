//! What the bytes of a field's name and value may be. Runs over every response, so the value is
//! looked at a block at a time.

use super::field_error::{FieldError, FieldFault};
use crate::field::{is_token_byte, is_value_byte};
use crate::word;

/// Refuses a name that is not a token.
#[inline]
pub(super) fn check_name(name: &[u8]) -> Result<(), FieldError> {
    if !name.is_empty() && name.iter().fold(true, |all, &byte| all & is_token_byte(byte)) {
        return Ok(());
    }
    let bad = name.iter().find(|&&byte| !is_token_byte(byte));
    let fault = bad.map_or(FieldFault::EmptyName, |&byte| FieldFault::NameByte(byte));
    Err(FieldError::new(name, fault))
}

/// Refuses a value with a control byte other than a tab (RFC 9110 section 5.5).
#[inline]
pub(super) fn check_value(name: &[u8], value: &[u8]) -> Result<(), FieldError> {
    if !may_have_control(value) {
        return Ok(());
    }
    match value.iter().find(|&&byte| !is_value_byte(byte)) {
        Some(&byte) => Err(FieldError::new(name, FieldFault::ValueByte(byte))),
        None => Ok(()),
    }
}

/// Whether any byte is a control byte, a tab among them.
#[inline]
fn may_have_control(value: &[u8]) -> bool {
    // The last block or word overlaps the one before it instead of leaving a remainder.
    if let Some(last) = value.last_chunk() {
        let (blocks, _) = value.as_chunks();
        return blocks.iter().any(word::has_control) || word::has_control(last);
    }
    match (value.first_chunk(), value.last_chunk()) {
        (Some(first), Some(last)) => {
            let [first, last] = [first, last].map(|word| u64::from_le_bytes(*word));
            word::controls(first) | word::controls(last) != 0
        }
        _ => value.iter().any(u8::is_ascii_control),
    }
}

/// Digits only, RFC 9110 section 8.6; `None` for anything else and beyond 64 bits.
pub(super) fn parse_length(value: &[u8]) -> Option<u64> {
    if value.is_empty() {
        return None;
    }
    value.iter().try_fold(0_u64, |length, byte| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        length.checked_mul(10)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_fault(name: &[u8]) -> Option<FieldFault> {
        check_name(name).err().map(|error| error.fault())
    }

    fn value_fault(value: &[u8]) -> Option<FieldFault> {
        check_value(b"X", value).err().map(|error| error.fault())
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
                    assert_eq!(value_fault(&value), expected, "{byte:#x} at {at}/{length}");
                }
            }
        }
        assert_eq!(value_fault(b"\x80\xFF\x80\xFF\x80\xFF\x80\xFF\xA0\xE9"), None);
        assert_eq!(value_fault(b"a\tb\tc\td\te\n"), Some(FieldFault::ValueByte(b'\n')));
    }

    #[test]
    fn rule_23_names_are_tokens() {
        assert_eq!(name_fault(b""), Some(FieldFault::EmptyName));
        for byte in 0..=255_u8 {
            let token = byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
            let expected = (!token).then_some(FieldFault::NameByte(byte));
            assert_eq!(name_fault(&[b'X', byte, b'Y']), expected, "{byte:#x}");
            assert_eq!(name_fault(&[byte]), expected, "{byte:#x}");
        }
    }
}
