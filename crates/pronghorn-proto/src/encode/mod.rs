//! Response encoding: the fields an application sets, the framing its body gets, the head and
//! the body on the wire (RFC 9112 sections 4, 6 and 7).
//!
//! The order of use: [`ResponseFields::push`] for each field, [`plan`] once the status and what
//! is known of the body are there, [`write_head`], then a [`BodyWriter`] for every piece.

mod body;
mod field_error;
mod fields;
mod head;
mod octets;
mod plan;

pub use body::{BodyWriter, End, LAST_CHUNK, Short, chunk_head};
pub use field_error::{FieldError, FieldFault};
pub use fields::ResponseFields;
pub(crate) use head::write_switching;
pub use head::{CONTINUE, Refusal, ServerFields, error_response, refusal_response, write_head};
pub use plan::{BodyFraming, BodySize, Plan, RequestFacts, plan};
