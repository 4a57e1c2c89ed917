//! ASGI 3.0: one request becomes one task.

mod message;
mod raw;
mod scope;
mod stage;
