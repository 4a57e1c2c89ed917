//! Runs the tests of the settings and the command line without an interpreter.
//!
//! The crate is an extension module: a test binary of all of it needs libpython to link. These two modules know
//! nothing of Python, so they are compiled alone here and tested wherever Rust is.

#[path = "../src/cli/mod.rs"]
pub mod cli;
#[path = "../src/settings/mod.rs"]
pub mod settings;
