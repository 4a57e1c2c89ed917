//! The time as lines write it.

use std::cell::Cell;

use pronghorn_proto::date::civil_date;
use pronghorn_proto::decimal::put_digits;

use crate::date::date_now;
use crate::sys;

/// Appends the time now as `[06/Nov/1994:08:49:37 +0000]`.
pub(super) fn append_common(out: &mut Vec<u8>) {
    out.extend_from_slice(&common(&date_now()));
}

/// Appends the time now as RFC 3339 has it, with milliseconds.
pub(super) fn append_rfc3339(out: &mut Vec<u8>) {
    let (seconds, millis) = sys::unix_time();
    let mut text = LATEST.with(|latest| {
        if latest.get().0 != seconds {
            latest.set((seconds, rfc3339(seconds)));
        }
        latest.get().1
    });
    put_digits(&mut text[20..23], millis.into());
    out.extend_from_slice(&text);
}

/// From `Sun, 06 Nov 1994 08:49:37 GMT`.
fn common(date: &[u8; 29]) -> [u8; 28] {
    let mut text = *b"[00/Jan/1970:00:00:00 +0000]";
    text[1..3].copy_from_slice(&date[5..7]);
    text[4..7].copy_from_slice(&date[8..11]);
    text[8..12].copy_from_slice(&date[12..16]);
    text[13..21].copy_from_slice(&date[17..25]);
    text
}

fn rfc3339(seconds: u64) -> Rfc3339 {
    let mut text = *b"1970-01-01T00:00:00.000Z";
    let (year, month, day) = civil_date(seconds / DAY);
    let second = seconds % DAY;
    put_digits(&mut text[0..4], year);
    put_digits(&mut text[5..7], month as u64 + 1);
    put_digits(&mut text[8..10], day);
    put_digits(&mut text[11..13], second / 3600);
    put_digits(&mut text[14..16], second / 60 % 60);
    put_digits(&mut text[17..19], second % 60);
    text
}

type Rfc3339 = [u8; 24];

const DAY: u64 = 24 * 60 * 60;

thread_local! {
    /// The latest second, and its text.
    static LATEST: Cell<(u64, Rfc3339)> = const { Cell::new((u64::MAX, [0; 24])) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_the_formats_have_them() {
        assert_eq!(&common(b"Sun, 06 Nov 1994 08:49:37 GMT"), b"[06/Nov/1994:08:49:37 +0000]");
        assert_eq!(&rfc3339(784_111_777), b"1994-11-06T08:49:37.000Z");
        assert_eq!(&rfc3339(1_796_040_000), b"2026-11-30T12:00:00.000Z");
    }
}
