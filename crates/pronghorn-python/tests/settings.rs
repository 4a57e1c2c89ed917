//! Runs the tests of what knows nothing of Python, without an interpreter.
//!
//! The crate is an extension module: a test binary of all of it needs libpython to link. These modules know nothing
//! of Python, so they are compiled alone here and tested wherever Rust is.

#[path = "../src/supervisor/channel.rs"]
pub mod channel;
#[path = "../src/cli/mod.rs"]
pub mod cli;
#[path = "../src/supervisor/fleet/mod.rs"]
pub mod fleet;
#[path = "../src/logging/line.rs"]
pub mod line;
#[path = "../src/settings/mod.rs"]
pub mod settings;
#[path = "../src/stack_dump.rs"]
pub mod stack_dump;
#[path = "../src/asgi/stage.rs"]
pub mod stage;
