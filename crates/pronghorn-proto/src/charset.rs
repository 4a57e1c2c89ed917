//! Sets of bytes, as tables made at compile time.

/// Whether each byte is in a set.
pub(crate) type Charset = [bool; 256];

/// The ASCII letters and digits, and the bytes of `marks`.
pub(crate) const fn alphanumeric_and(marks: &[u8]) -> Charset {
    let mut set = [false; 256];
    let mut byte = 0;
    while byte < set.len() {
        set[byte] = (byte as u8).is_ascii_alphanumeric();
        byte += 1;
    }
    let mut mark = 0;
    while mark < marks.len() {
        set[marks[mark] as usize] = true;
        mark += 1;
    }
    set
}
