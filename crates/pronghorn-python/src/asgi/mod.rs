//! ASGI 3.0: the application runs in an event loop of its own, which takes the engine's turns; one request becomes one task.

mod await_stack;
mod ending;
mod engine;
mod event_loop;
mod http;
mod lifespan;
mod message;
mod raw;
mod scope;
mod selector;
mod stage;
mod task;

pub(crate) use ending::is_stuck;
