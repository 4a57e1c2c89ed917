//! What the scopes of one listener have in common.

use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict, PyString, PyTuple},
};

use super::{Listener, ScopeOptions};

/// What the requests to one listener begin with.
pub(super) struct Template {
    pub(super) http: Py<PyDict>,
    pub(super) websocket: Py<PyDict>,
}

/// The extensions that scopes offer.
pub(super) struct Extensions {
    pub(super) http_11: Py<PyDict>,
    /// HTTP/1.0 has neither informational responses nor trailers.
    pub(super) http_10: Py<PyDict>,
    pub(super) websocket: Py<PyDict>,
}

impl Template {
    /// Dicts with every key that a scope has, so that a copy, which copies the table as it is, has their places already.
    ///
    /// # Errors
    /// `MemoryError`.
    pub(super) fn new(
        py: Python<'_>,
        options: &ScopeOptions,
        listener: &Listener,
    ) -> PyResult<Self> {
        let http = common(py, options, listener)?;
        let websocket = http.copy()?;
        set(&http, "type", "http")?;
        set(&http, "scheme", "http")?;
        set(&http, "method", "GET")?;
        set(&websocket, "type", "websocket")?;
        set(&websocket, "scheme", "ws")?;
        set(&websocket, "subprotocols", py.None())?;
        Ok(Template { http: http.unbind(), websocket: websocket.unbind() })
    }
}

fn common<'py>(
    py: Python<'py>,
    options: &ScopeOptions,
    listener: &Listener,
) -> PyResult<Bound<'py, PyDict>> {
    let scope = PyDict::new(py);
    set(&scope, "type", py.None())?;
    set(&scope, "asgi", versions(py)?)?;
    set(&scope, "http_version", "1.1")?;
    set(&scope, "scheme", py.None())?;
    set(&scope, "path", "/")?;
    set(&scope, "raw_path", PyBytes::new(py, b"/"))?;
    set(&scope, "query_string", PyBytes::new(py, b""))?;
    set(&scope, "root_path", PyString::new(py, &options.root_path))?;
    set(&scope, "headers", py.None())?;
    set(&scope, "client", py.None())?;
    set(&scope, "server", server(py, listener)?)?;
    set(&scope, "state", py.None())?;
    set(&scope, "extensions", py.None())?;
    Ok(scope)
}

/// One dict for all scopes: it says what the server is, which no request changes.
fn versions(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let versions = PyDict::new(py);
    set(&versions, "version", "3.0")?;
    set(&versions, "spec_version", "2.5")?;
    Ok(versions)
}

/// Host and port; a Unix socket has a path and none.
fn server<'py>(py: Python<'py>, listener: &Listener) -> PyResult<Bound<'py, PyTuple>> {
    (listener.name.as_str(), listener.port).into_pyobject(py)
}

impl Extensions {
    /// # Errors
    /// `MemoryError`.
    pub(super) fn new(py: Python<'_>, debug: bool) -> PyResult<Self> {
        let both = ["http.response.pathsend", "http.response.zerocopysend"];
        let newer = ["http.response.early_hint", "http.response.trailers"];
        let debug = debug.then_some("http.response.debug");
        Ok(Extensions {
            http_11: empty(py, both.into_iter().chain(newer).chain(debug))?,
            http_10: empty(py, both.into_iter().chain(debug))?,
            websocket: empty(py, ["websocket.http.response"].into_iter())?,
        })
    }
}

/// Extensions without anything to say.
fn empty(py: Python<'_>, names: impl Iterator<Item = &'static str>) -> PyResult<Py<PyDict>> {
    let extensions = PyDict::new(py);
    for name in names {
        set(&extensions, name, PyDict::new(py))?;
    }
    Ok(extensions.unbind())
}

fn set<'py>(scope: &Bound<'py, PyDict>, key: &str, value: impl IntoPyObject<'py>) -> PyResult<()> {
    scope.set_item(PyString::intern(scope.py(), key), value)
}
