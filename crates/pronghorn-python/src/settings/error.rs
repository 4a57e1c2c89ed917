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

impl fmt::Display for UsageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UsageError {}
