//! Mistakes, told to the person who made them.

use std::fmt;

/// A mistake in what was typed: one message that says what, why and how to fix it.
///
/// The command prints it after `pronghorn: error: ` and ends with status 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageError(String);

impl UsageError {
    /// An error that tells a person `message`, sentences with their full stops.
    pub fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

/// The text with a capital letter first and a full stop or question mark last.
pub(super) fn sentence(text: &str) -> String {
    let mut text = text.to_owned();
    if let Some(first) = text.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    if !text.ends_with(['.', '?']) {
        text.push('.');
    }
    text
}

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}
