//! The size bound every message is held to.

/// How much a client may send in one message. What exceeds a limit ends the WebSocket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The bytes of one message, after it is inflated. Beyond: 1009.
    pub message: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { message: 16 * 1024 * 1024 }
    }
}
