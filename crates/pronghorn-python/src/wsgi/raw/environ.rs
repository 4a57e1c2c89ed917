//! The environ of a request: a copy of its listener's prepared dict, and what this request changes in it.

use pronghorn_engine::{self as engine, Exchange};
use pronghorn_proto::{
    field::{Field, Known},
    framing::Framing,
    head::{Method, Version},
    percent,
    target::Form,
};
use pyo3::{prelude::*, types::PyDict};

use super::forwarded::shows;
use crate::{
    attach::Object,
    interned::Interned,
    raw::{Cache, Connection, Connections, Latin1, latin1, set},
    request::{Request, address_text, is_of_proxy, is_secret},
};

/// Builds environs.
pub(crate) struct Environ {
    pub(super) names: Interned,
    /// By the index of the listener.
    templates: Vec<Py<PyDict>>,
    script_name: Vec<u8>,
    pub(super) texts: Cache<Latin1>,
    connections: Connections<Option<Peer>>,
}

impl Environ {
    /// `templates` hold, for each listener, what its requests have in common, with a value for every key that
    /// [`build`](Environ::build) sets always.
    pub(crate) fn new(py: Python<'_>, templates: Vec<Py<PyDict>>, script_name: &str) -> Self {
        Environ {
            names: Interned::new(py),
            templates,
            script_name: script_name.as_bytes().to_vec(),
            texts: Cache::new(),
            connections: Connections::new(),
        }
    }

    /// The environ of the request in `exchange`, with `input` if it has a body. `decoded`: the length of a body that came in chunks.
    ///
    /// # Errors
    /// `MemoryError`.
    pub(crate) fn build<'py>(
        &self,
        py: Python<'py>,
        exchange: &Exchange<'_>,
        input: Option<Bound<'py, PyAny>>,
        decoded: Option<u64>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let request = Request { head: exchange.head(), bytes: exchange.head_bytes() };
        let mut connection = match self.connections.take(py, exchange.slot()) {
            Some(connection) => connection,
            None => Connection::new(exchange.slot(), self.peer(py, exchange.peer())?),
        };
        let template = &self.templates[exchange.local().index];
        let environ = self.without_method(template.bind(py), &mut connection, request, exchange)?;
        self.connections.put(py, connection);
        self.set_method(&environ, request)?;
        if let Some(id) = exchange.request_id() {
            set(&environ, self.names.key(Known::XRequestId), &latin1(py, id)?)?;
        }
        if let Some(input) = input {
            set(&environ, &self.names.wsgi_input, &input)?;
        }
        if let Some(length) = decoded {
            self.set_content_length(&environ, length)?;
        }
        Ok(environ)
    }

    /// An environ that lacks only the method: a copy of what is remembered, as far as this head is like the ones before.
    #[inline]
    fn without_method<'py>(
        &self,
        template: &Bound<'py, PyDict>,
        connection: &mut Connection<Option<Peer>>,
        request: Request<'_>,
        exchange: &Exchange<'_>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let py = template.py();
        let (target, rest) = (request.head.target.raw.of(request.bytes), request.rest());
        let Some(fields) = connection.heads.recall(rest) else {
            let environ = template.copy()?;
            self.set_peer(&environ, connection.peer.as_ref())?;
            self.set_fields(&environ, request, exchange)?;
            if request.head.is_forwarded() {
                self.set_forwarded(&environ, exchange)?;
            }
            connection.heads.note(rest, &environ)?;
            self.set_target(&environ, request, exchange)?;
            return Ok(environ);
        };
        if let Some(same) = fields.below.recall(target) {
            return same.environ(py);
        }
        let environ = fields.environ(py)?;
        self.set_target(&environ, request, exchange)?;
        fields.below.note(target, &environ)?;
        Ok(environ)
    }

    /// The template says GET.
    #[inline]
    fn set_method(&self, environ: &Bound<'_, PyDict>, request: Request<'_>) -> PyResult<()> {
        let py = environ.py();
        match self.names.methods.name(request.head.method) {
            _ if request.head.method == Method::Get => Ok(()),
            Some(name) => set(environ, &self.names.request_method, name.bind(py)),
            None => {
                let name = latin1(py, request.head.method_span.of(request.bytes))?;
                set(environ, &self.names.request_method, &name)
            }
        }
    }

    /// The template says that the query is empty.
    #[inline]
    fn set_target(
        &self,
        environ: &Bound<'_, PyDict>,
        request: Request<'_>,
        exchange: &Exchange<'_>,
    ) -> PyResult<()> {
        let py = environ.py();
        let target = &request.head.target;
        let (raw, path) = (target.raw.of(request.bytes), target.path.of(request.bytes));
        let uri = match target.query {
            // A query may hold secrets, which connections are not to share, and is seldom seen twice.
            Some(_) => latin1(py, raw)?,
            None => self.texts.text(py, raw)?,
        };
        set(environ, &self.names.raw_uri, &uri)?;
        set(environ, &self.names.request_uri, &uri)?;
        if let Some(query) = target.query.filter(|query| !query.is_empty()) {
            set(environ, &self.names.query_string, &latin1(py, query.of(request.bytes))?)?;
        }
        let as_sent = self.script_name.is_empty() && !percent::needs_decoding(path);
        match target.form {
            Form::Origin if as_sent && target.query.is_none() => {
                set(environ, &self.names.path_info, &uri)
            }
            Form::Origin if as_sent => {
                set(environ, &self.names.path_info, &self.texts.text(py, path)?)
            }
            form => self.set_path(environ, form, path, self.in_path(request, exchange)),
        }
    }

    /// The mount point that may be in the path: a proxy that names another has taken that off.
    fn in_path(&self, request: Request<'_>, exchange: &Exchange<'_>) -> &[u8] {
        match request.head.is_forwarded() && exchange.forwarded().mount_point.is_some() {
            true => b"",
            false => &self.script_name,
        }
    }

    /// `PATH_INFO` is what follows the mount point, or the whole path if that does not begin with it: a proxy may have taken it off.
    fn set_path(
        &self,
        environ: &Bound<'_, PyDict>,
        form: Form,
        path: &[u8],
        mount_point: &[u8],
    ) -> PyResult<()> {
        let mut decoded = Vec::new();
        percent::decode_path(path, &mut decoded);
        // An absolute target may stop after its authority: that is the root (RFC 9112 section 3.2.1).
        let path: &[u8] = match (form, decoded.as_slice()) {
            (Form::Absolute, []) => b"/",
            (Form::Asterisk, _) => b"*",
            (_, path) => path,
        };
        let inside = path.strip_prefix(mount_point);
        let inside = inside.filter(|rest| matches!(rest, [] | [b'/', ..]));
        let path_info = self.texts.text(environ.py(), inside.unwrap_or(path))?;
        set(environ, &self.names.path_info, &path_info)
    }

    fn peer(&self, py: Python<'_>, peer: engine::Peer) -> PyResult<Option<Peer>> {
        let engine::Peer::Inet(address) = peer else { return Ok(None) };
        Ok(Some(Peer {
            addr: Object::new(self.texts.text(py, address_text(address).as_bytes())?),
            port: Object::new(latin1(py, address.port().to_string().as_bytes())?),
        }))
    }

    fn set_peer(&self, environ: &Bound<'_, PyDict>, peer: Option<&Peer>) -> PyResult<()> {
        let Some(peer) = peer else { return Ok(()) };
        set(environ, &self.names.remote_addr, &peer.addr.bind(environ.py()))?;
        set(environ, &self.names.remote_port, &peer.port.bind(environ.py()))
    }

    /// What the version and the fields say. The template says HTTP/1.1.
    fn set_fields(
        &self,
        environ: &Bound<'_, PyDict>,
        request: Request<'_>,
        exchange: &Exchange<'_>,
    ) -> PyResult<()> {
        let py = environ.py();
        if request.head.version == Version::Http10 {
            set(environ, &self.names.server_protocol, self.names.http_10.bind(py))?;
        }
        if let Some(host) = request.head.host {
            set(environ, &self.names.host, &self.texts.text(py, host.of(request.bytes))?)?;
        }
        let mut seen = Seen::default();
        for field in &request.head.fields {
            match field.known {
                // The transfer coding is undone: an application that saw it would undo it again.
                Some(Known::Host | Known::Proxy | Known::TransferEncoding) => {}
                Some(known) if is_of_proxy(known) && !shows(exchange, known) => {}
                Some(Known::ContentLength) => {
                    if let Framing::Length(length) = request.head.framing {
                        self.set_content_length(environ, length)?;
                    }
                }
                Some(known) => self.set_known(environ, request, field, known, &mut seen)?,
                None => self.set_unknown(environ, request, field, exchange)?,
            }
        }
        Ok(())
    }

    fn set_content_length(&self, environ: &Bound<'_, PyDict>, length: u64) -> PyResult<()> {
        let text = latin1(environ.py(), length.to_string().as_bytes())?;
        set(environ, &self.names.content_length, &text)
    }

    #[inline]
    fn set_known(
        &self,
        environ: &Bound<'_, PyDict>,
        request: Request<'_>,
        field: &Field,
        known: Known,
        seen: &mut Seen,
    ) -> PyResult<()> {
        let (key, value) = (self.names.key(known), field.value.of(request.bytes));
        if seen.again(known) {
            let separator = if known == Known::Cookie { "; " } else { ", " };
            return join(environ, key.bind(environ.py()).as_any(), value, separator);
        }
        let value = match known {
            known if is_secret(known) => latin1(environ.py(), value)?,
            _ => self.texts.text(environ.py(), value)?,
        };
        set(environ, key, &value)
    }

    /// A name with an underscore could pass for another with a dash, which proxies check: it is dropped.
    #[inline(never)]
    fn set_unknown(
        &self,
        environ: &Bound<'_, PyDict>,
        request: Request<'_>,
        field: &Field,
        exchange: &Exchange<'_>,
    ) -> PyResult<()> {
        let (name, value) = (field.name.of(request.bytes), field.value.of(request.bytes));
        if name.contains(&b'_') || !exchange.proxies().shows_name(exchange.peer(), name) {
            return Ok(());
        }
        let key = self.texts.text(environ.py(), &environ_key(name))?;
        if environ.contains(&key)? {
            return join(environ, &key, value, ", ");
        }
        environ.set_item(key, latin1(environ.py(), value)?)
    }
}

/// `REMOTE_ADDR` and `REMOTE_PORT`; none for a Unix socket.
struct Peer {
    addr: Object,
    port: Object,
}

/// Appends to a value that is there (RFC 9110 section 5.3; RFC 6265 section 5.4 for Cookie).
#[cold]
fn join(
    environ: &Bound<'_, PyDict>,
    key: &Bound<'_, PyAny>,
    value: &[u8],
    separator: &str,
) -> PyResult<()> {
    let first = environ.as_any().get_item(key)?;
    environ.set_item(key, first.add(separator)?.add(latin1(environ.py(), value)?)?)
}

/// `X-Forwarded-For` is `HTTP_X_FORWARDED_FOR`.
fn environ_key(name: &[u8]) -> Vec<u8> {
    let upper = name.iter().map(|byte| match byte {
        b'-' => b'_',
        byte => byte.to_ascii_uppercase(),
    });
    b"HTTP_".iter().copied().chain(upper).collect()
}

/// The known fields a request had so far.
#[derive(Default)]
struct Seen([u64; Known::COUNT.div_ceil(64)]);

impl Seen {
    /// Notes `known`, and says whether it was there before.
    #[inline]
    fn again(&mut self, known: Known) -> bool {
        let (word, bit) = (&mut self.0[known as usize / 64], 1 << (known as usize % 64));
        let again = *word & bit != 0;
        *word |= bit;
        again
    }
}
