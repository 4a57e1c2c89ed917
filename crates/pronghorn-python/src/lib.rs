//! The extension module `pronghorn._pronghorn`: the binding between the engine and CPython.
//!
//! Python sees two functions. Everything else is how they get there: [`settings`] and [`cli`] read what was typed
//! and know nothing of Python, [`app`] imports the application, [`start`] puts it all together, `serve` hands it to
//! the engine, and `wsgi` runs a request.

mod access_log;
mod alone;
pub mod app;
mod asgi;
mod attach;
pub mod cli;
mod configuration;
mod debug;
mod environ;
mod fork;
mod identity;
mod interned;
mod interruption;
mod listening;
pub mod logging;
mod monitoring;
mod pid_file;
mod raw;
mod reload;
mod request;
mod serve;
pub mod settings;
mod signals;
mod stack_dump;
pub mod start;
mod statsd;
mod supervisor;
mod systemd;
mod wsgi;

#[global_allocator]
static ALLOCATOR: pronghorn_engine::ReservingAllocator = pronghorn_engine::ReservingAllocator;

/// The native part of `pronghorn`.
#[pyo3::pymodule(gil_used = true)]
mod _pronghorn {
    use std::ffi::OsString;

    use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
    use pyo3::prelude::*;
    use pyo3::types::PyDict;

    use crate::start::{self, Failure};

    #[pymodule_export]
    use crate::interruption::RequestTimeout;

    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "Python's name for it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    /// Do what the arguments, without the program's name, ask for, and return the exit status.
    #[pyfunction]
    fn main(py: Python<'_>, argv: Vec<OsString>) -> i32 {
        start::main(py, argv)
    }

    /// Serve `app` with `settings`, by the names of the settings in Python, and return after the drain.
    #[pyfunction]
    fn run(app: &Bound<'_, PyAny>, settings: &Bound<'_, PyDict>) -> PyResult<()> {
        start::run(app, settings).map_err(|failure| match failure {
            Failure::Keyword(error) => PyTypeError::new_err(error.to_string()),
            Failure::Usage(error) => PyValueError::new_err(error.to_string()),
            Failure::Start(error) => PyRuntimeError::new_err(error.to_string()),
        })
    }
}
