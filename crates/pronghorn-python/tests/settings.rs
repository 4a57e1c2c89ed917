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
#[expect(dead_code, reason = "what calls it knows of Python")]
#[expect(missing_docs, reason = "it is told of where it is")]
#[path = "."]
pub mod reload {
    #[path = "../src/reload/bell.rs"]
    pub mod bell;
    #[path = "../src/reload/compiled.rs"]
    pub mod compiled;
    #[path = "../src/reload/folder.rs"]
    pub mod folder;
    #[path = "../src/reload/snapshot.rs"]
    pub mod snapshot;
    #[path = "../src/reload/watched.rs"]
    pub mod watched;
}
#[path = "../src/settings/mod.rs"]
pub mod settings;
#[path = "../src/stack_dump.rs"]
pub mod stack_dump;
#[path = "../src/asgi/stage.rs"]
pub mod stage;
