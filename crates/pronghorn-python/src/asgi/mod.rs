//! ASGI 3.0: one request becomes one task.

mod raw;
