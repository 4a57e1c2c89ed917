//! The raw CPython path of ASGI: `receive`, `send`, what they give to be awaited, and the coroutine that a task runs. It builds on
//! [`crate::raw`], whose rules it keeps.

mod awaitable;
mod call;
mod callable;
mod coroutine;
mod current_task;
mod direct;
mod header_list;
mod pairs;
mod steps;
mod stop;
mod types;
mod waiter;

pub(super) use call::{Call, Conversation, Ended, Outcome, Sent};
pub(super) use header_list::HeaderList;
pub(super) use pairs::{Pairs, pair};
pub(super) use stop::Keeping;
pub(super) use types::{Applications, Types};
pub(super) use waiter::When;
