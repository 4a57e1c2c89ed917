//! Every setting of the server: declared once, read from four places, resolved to what it means.
//!
//! `table` is the one declaration. The command line, the `PRONGHORN_*` variables, the settings file and
//! the keywords of `pronghorn.run()` all read texts into a [`Given`]: what was typed and where, by nobody judged
//! yet. [`Given::resolve`] turns that into [`Settings`]: what it means, checked.
//!
//! A flag wins over a variable, a variable over the settings file, the file over the default.

mod address;
mod application;
mod asgi;
mod declare;
mod env_file;
mod environment;
mod error;
mod file;
mod given;
mod keywords;
mod kind;
mod listen;
mod log_target;
mod mode;
mod own;
mod owner;
mod peers;
mod print;
mod proxies;
mod reference;
mod root_path;
mod sources;
mod suggest;
mod table;
mod units;
mod words;
mod workers;

pub use address::Address;
pub use application::AppSpec;
pub use asgi::{DrainChoice, InterfaceChoice, LifespanChoice, LoopChoice};
pub use declare::{Arity, Section, Setting};
pub use error::UsageError;
pub use given::{Entry, Given, Origin};
pub use keywords::from_keywords;
pub use own::MetricsPlace;
pub use owner::Owner;
pub use print::toml_text;
pub use reference::markdown;
pub use sources::{Gathered, Sources, gather, reason};
pub use suggest::nearest;
pub use table::{Settings, TABLE};
pub use units::duration_text;
pub use words::Words;
