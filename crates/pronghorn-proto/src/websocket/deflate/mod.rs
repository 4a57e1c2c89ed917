//! permessage-deflate (RFC 7692): what is agreed, inflating and deflating.
//!
//! An inflater holds 47 KB and a deflater 380, so an idle connection must have none: without
//! context takeover each message is inflated and deflated by one that all connections share, and that
//! is what is agreed unless [`Options`] say otherwise. With context takeover a connection has its
//! own, from the first compressed message on.

mod agreement;
mod deflater;
mod inflater;

pub use agreement::{Agreement, Options, Param};
pub use deflater::Deflaters;
pub use inflater::Inflaters;

pub(super) use agreement::NAME;
pub(super) use deflater::Deflater;
pub(super) use inflater::Inflater;

/// What ends a message and is not sent (RFC 7692 section 7.2.1).
const TAIL: &[u8] = b"\x00\x00\xFF\xFF";
