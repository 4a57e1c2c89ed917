//! The size bounds every request is held to.

/// How large the parts of a request may be. Sizes are in bytes and leave out line ends unless said
/// otherwise. What exceeds a limit is refused and its connection closes.
///
/// Offsets into a head are 32 bits wide, so `request_line` and `fields` have to stay below 4 GiB
/// together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The request line. Beyond: 414.
    pub request_line: usize,
    /// One field line, name and value together. Beyond: 431.
    pub field: usize,
    /// All field lines of a head together, line ends included. Beyond: 431.
    pub fields: usize,
    /// Number of field lines. Beyond: 431.
    pub field_count: usize,
    /// Chunk extensions of one body together. Beyond: 413.
    pub chunk_extensions: usize,
    /// Trailer lines of one body together, line ends included. Beyond: 413.
    pub trailers: usize,
    /// A body after its transfer coding is removed. Beyond: 413.
    pub body: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            request_line: 8 * KIB,
            field: 8 * KIB,
            fields: 64 * KIB,
            field_count: 100,
            chunk_extensions: 4 * KIB,
            trailers: 8 * KIB,
            body: 100 * 1024 * 1024,
        }
    }
}

const KIB: usize = 1024;
