//! Every interned object: the keys of environs, scopes and messages, and the values that most requests share.

mod words;

pub(crate) use words::Words;

use pronghorn_proto::{field::Known, head::Method};
use pyo3::{prelude::*, types::PyString};

/// A string that lives as long as the server.
pub(crate) type Text = Py<PyString>;

/// The strings every request uses.
pub(crate) struct Interned {
    known: Box<[Text]>,
    pub(crate) content_length: Text,
    pub(crate) host: Text,
    pub(crate) path_info: Text,
    pub(crate) query_string: Text,
    pub(crate) raw_uri: Text,
    pub(crate) remote_addr: Text,
    pub(crate) remote_port: Text,
    pub(crate) request_method: Text,
    pub(crate) request_uri: Text,
    pub(crate) script_name: Text,
    pub(crate) server_name: Text,
    pub(crate) server_port: Text,
    pub(crate) server_protocol: Text,
    pub(crate) url_scheme: Text,
    pub(crate) wsgi_input: Text,
    pub(crate) http: Text,
    pub(crate) https: Text,
    pub(crate) http_10: Text,
    pub(crate) methods: Methods,
}

/// The names of the common methods.
pub(crate) struct Methods(Box<[(Method, Text)]>);

impl Interned {
    /// Interns them all.
    pub(crate) fn new(py: Python<'_>) -> Self {
        let intern = |text: &str| PyString::intern(py, text).unbind();
        Interned {
            known: Known::all().iter().map(|known| intern(known.environ_key())).collect(),
            content_length: intern("CONTENT_LENGTH"),
            host: intern("HTTP_HOST"),
            path_info: intern("PATH_INFO"),
            query_string: intern("QUERY_STRING"),
            raw_uri: intern("RAW_URI"),
            remote_addr: intern("REMOTE_ADDR"),
            remote_port: intern("REMOTE_PORT"),
            request_method: intern("REQUEST_METHOD"),
            request_uri: intern("REQUEST_URI"),
            script_name: intern("SCRIPT_NAME"),
            server_name: intern("SERVER_NAME"),
            server_port: intern("SERVER_PORT"),
            server_protocol: intern("SERVER_PROTOCOL"),
            url_scheme: intern("wsgi.url_scheme"),
            wsgi_input: intern("wsgi.input"),
            http: intern("http"),
            https: intern("https"),
            http_10: intern("HTTP/1.0"),
            methods: Methods::new(py),
        }
    }

    /// The environ key of a known field.
    #[inline]
    pub(crate) fn key(&self, known: Known) -> &Text {
        &self.known[known as usize]
    }
}

impl Methods {
    /// Interns them all.
    pub(crate) fn new(py: Python<'_>) -> Self {
        let intern = |text: &str| PyString::intern(py, text).unbind();
        Methods(METHODS.iter().map(|(method, name)| (*method, intern(name))).collect())
    }

    /// The name of a method; `None` for one outside the common ones.
    #[inline]
    pub(crate) fn name(&self, method: Method) -> Option<&Text> {
        self.0.iter().find(|(common, _)| *common == method).map(|(_, name)| name)
    }
}

const METHODS: [(Method, &str); 8] = [
    (Method::Get, "GET"),
    (Method::Post, "POST"),
    (Method::Head, "HEAD"),
    (Method::Put, "PUT"),
    (Method::Delete, "DELETE"),
    (Method::Options, "OPTIONS"),
    (Method::Patch, "PATCH"),
    (Method::Trace, "TRACE"),
];
