//! ASGI 3.0: the application runs in an event loop of its own, which takes the engine's turns; one request becomes one task.

mod await_stack;
mod drain;
mod either;
mod ending;
mod engine;
mod event_loop;
mod failure;
mod handler;
mod host;
mod http;
mod late;
mod lifespan;
mod message;
mod raw;
mod request_tasks;
mod scope;
mod selector;
mod serve;
mod stage;
mod task;
mod under_way;
mod websocket;

pub(crate) use ending::is_stuck;
pub(crate) use event_loop::check;
pub(crate) use scope::Listener;
pub(crate) use serve::serve;
