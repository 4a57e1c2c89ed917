//! What the environs of one listener have in common.

use pyo3::{
    prelude::*,
    types::{PyDict, PyString},
};

use super::{
    Listener, WsgiOptions, errors::ErrorStream, file_wrapper::FileWrapper, input::EmptyInput,
};

/// A dict with every key that an environ has always: PEP 3333, "environ Variables".
///
/// The keys that a request sets are there too, so that a copy, which copies the table as it is, has their places already.
///
/// # Errors
/// `MemoryError`.
pub(super) fn template(
    py: Python<'_>,
    options: &WsgiOptions,
    listener: &Listener,
) -> PyResult<Py<PyDict>> {
    let environ = PyDict::new(py);
    set_texts(&environ, options, listener)?;
    set_wsgi(&environ, options)?;
    if listener.unix {
        environ.del_item(PyString::intern(py, "REMOTE_PORT"))?;
    }
    Ok(environ.unbind())
}

fn set_texts(
    environ: &Bound<'_, PyDict>,
    options: &WsgiOptions,
    listener: &Listener,
) -> PyResult<()> {
    // A Unix socket has no port, and PEP 3333 allows no empty one.
    let port = match (listener.port.as_str(), options.url_scheme.as_str()) {
        ("", "https") => "443",
        ("", _) => "80",
        (port, _) => port,
    };
    let texts = [
        ("REQUEST_METHOD", "GET"),
        ("SCRIPT_NAME", &options.script_name),
        ("PATH_INFO", ""),
        ("QUERY_STRING", ""),
        ("RAW_URI", ""),
        ("REQUEST_URI", ""),
        ("SERVER_NAME", &listener.name),
        ("SERVER_PORT", port),
        ("SERVER_PROTOCOL", "HTTP/1.1"),
        ("SERVER_SOFTWARE", concat!("pronghorn/", env!("CARGO_PKG_VERSION"))),
        ("GATEWAY_INTERFACE", "CGI/1.1"),
        ("REMOTE_ADDR", ""),
        ("REMOTE_PORT", ""),
        ("wsgi.url_scheme", &options.url_scheme),
    ];
    texts.iter().try_for_each(|(key, text)| set(environ, key, PyString::intern(environ.py(), text)))
}

fn set_wsgi(environ: &Bound<'_, PyDict>, options: &WsgiOptions) -> PyResult<()> {
    let py = environ.py();
    set(environ, "wsgi.version", (1, 0))?;
    set(environ, "wsgi.input", Bound::new(py, EmptyInput)?)?;
    // The body ends where the stream does: no Content-Length is needed to read it.
    set(environ, "wsgi.input_terminated", true)?;
    set(environ, "wsgi.errors", Bound::new(py, ErrorStream)?)?;
    set(environ, "wsgi.multithread", options.multithread)?;
    set(environ, "wsgi.multiprocess", options.multiprocess)?;
    set(environ, "wsgi.run_once", false)?;
    set(environ, "wsgi.file_wrapper", py.get_type::<FileWrapper>())
}

fn set<'py>(
    environ: &Bound<'py, PyDict>,
    key: &str,
    value: impl IntoPyObject<'py>,
) -> PyResult<()> {
    environ.set_item(PyString::intern(environ.py(), key), value)
}
