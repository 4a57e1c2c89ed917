//! The head of a request: where it ends, and what it says.

mod connection;
mod request;
mod request_line;
mod scan;

pub use request::RequestHead;
pub use request_line::{Method, Version};
pub use scan::HeadScanner;
