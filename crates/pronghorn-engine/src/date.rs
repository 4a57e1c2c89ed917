//! The value of `Date`, formatted once a second on each thread.

use std::cell::Cell;

use pronghorn_proto::date::imf_fixdate;

use crate::sys;

thread_local! {
    static LATEST: Cell<(u64, [u8; 29])> = const { Cell::new((u64::MAX, [0; 29])) };
}

/// The time now, as an IMF-fixdate.
pub(crate) fn date_now() -> [u8; 29] {
    let seconds = sys::unix_seconds();
    LATEST.with(|latest| {
        let (at, text) = latest.get();
        if at == seconds {
            return text;
        }
        let text = imf_fixdate(seconds);
        latest.set((seconds, text));
        text
    })
}
