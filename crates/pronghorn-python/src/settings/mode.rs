//! Permissions as people write them: octal digits.

use super::kind::Single;

/// Permission bits such as 0660.
pub struct Mode;

impl Single for Mode {
    type Out = u32;

    fn expects() -> String {
        "permissions in octal, such as 660 or 0027".to_owned()
    }

    fn parse(text: &str) -> Result<u32, String> {
        let digits = text.strip_prefix("0o").unwrap_or(text);
        let is_octal = !digits.is_empty() && digits.bytes().all(|b| (b'0'..=b'7').contains(&b));
        u32::from_str_radix(digits, 8)
            .ok()
            .filter(|mode| is_octal && *mode <= 0o777)
            .ok_or_else(|| format!("expected {}", Self::expects()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octal_and_nothing_else() {
        for (text, mode) in [("660", 0o660), ("0027", 0o27), ("0o777", 0o777), ("0", 0)] {
            assert_eq!(Mode::parse(text), Ok(mode), "{text}");
        }
        for text in ["", "8", "1777", "0x1f", "+7", "rw-rw----"] {
            assert!(Mode::parse(text).is_err(), "{text}");
        }
    }
}
