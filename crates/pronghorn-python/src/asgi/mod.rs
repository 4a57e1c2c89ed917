//! ASGI 3.0: one request becomes one task.

mod http;
mod message;
mod raw;
mod scope;
mod stage;
