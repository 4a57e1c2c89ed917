//! The access log: a line for each answered request, written without holding up the threads that serve.

mod line;
mod writer;

pub use writer::AccessLog;

use crate::client::Client;
use crate::request::Request;

/// What a line says.
pub(crate) struct Entry<'a> {
    pub(crate) client: Client,
    /// The request, as far as it was read.
    pub(crate) request: &'a Request,
    pub(crate) status: u16,
    /// Bytes of the response's body.
    pub(crate) bytes: u64,
}
