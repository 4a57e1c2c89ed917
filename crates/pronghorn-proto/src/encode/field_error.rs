//! Why a field of an application is refused.

use std::fmt;

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
    pub(super) fn new(name: &[u8], fault: FieldFault) -> Self {
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

#[cfg(test)]
mod tests {
    use crate::encode::ResponseFields;

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
