//! The scope of a request: a copy of its listener's prepared dict, and what this request changes in it.

mod forwarded;
mod headers;
mod target;
mod template;

use std::rc::Rc;

use pronghorn_engine::{Dialogue, Local, Peer, Proxies};
use pronghorn_proto::{
    field::Known,
    head::{Method, Version},
    websocket::handshake::subprotocols,
};
use pyo3::{
    prelude::*,
    types::{PyBytes, PyDict, PyList},
};

use self::{
    headers::Names,
    template::{Extensions, Template},
};
use super::raw::Pairs;
use crate::{
    attach::Object,
    interned::{Methods, Words},
    raw::{Cache, Connection, Connections, Latin1, Octets, latin1, set},
    request::{Request, address_text},
};

/// Builds scopes.
pub(super) struct Scopes {
    words: Rc<Words>,
    methods: Methods,
    names: Names,
    /// By the index of the listener.
    templates: Vec<Template>,
    extensions: Extensions,
    state: Py<PyDict>,
    root_path: Vec<u8>,
    texts: Cache<Latin1>,
    octets: Cache<Octets>,
    pairs: Pairs,
    /// By connection, with the client as scopes have it.
    connections: Connections<Object>,
}

/// What applications are told about the server.
pub(super) struct ScopeOptions {
    /// The path the application is mounted at, without a slash at its end; empty for the root.
    pub(super) root_path: String,
    /// Whether clients may see what goes on inside.
    pub(super) debug: bool,
    /// The listeners, in the engine's order.
    pub(super) listeners: Vec<Listener>,
}

/// What applications are told about the listener a request came by.
pub(crate) struct Listener {
    /// The address, or the path of a Unix socket.
    pub(crate) name: String,
    /// The port; `None` for a Unix socket.
    pub(crate) port: Option<u16>,
}

impl<'a> Origin<'a> {
    /// The request of `dialogue`; `None` after its response.
    pub(super) fn of(dialogue: &'a Dialogue) -> Option<Self> {
        let request = Request { head: dialogue.head()?, bytes: dialogue.head_bytes() };
        Some(Origin {
            request,
            slot: dialogue.slot(),
            peer: dialogue.peer(),
            local: dialogue.local(),
            proxies: dialogue.proxies(),
            id: dialogue.request_id(),
        })
    }
}

/// A request, and where it is from.
#[derive(Clone, Copy)]
pub(super) struct Origin<'a> {
    pub(super) request: Request<'a>,
    /// Names the connection.
    pub(super) slot: (u32, u32),
    pub(super) peer: Peer,
    pub(super) local: &'a Local,
    pub(super) proxies: &'a Proxies,
    /// Its identifier, if it has one.
    pub(super) id: Option<&'a [u8]>,
}

impl Scopes {
    /// `state` is what the application's lifespan put there; each scope has a copy.
    ///
    /// # Errors
    /// `MemoryError`.
    pub(super) fn new(options: &ScopeOptions, state: Bound<'_, PyDict>) -> PyResult<Self> {
        let py = state.py();
        let listeners = options.listeners.iter();
        let templates = listeners.map(|listener| Template::new(py, options, listener));
        Ok(Scopes {
            words: Rc::new(Words::new(py)),
            methods: Methods::new(py),
            names: Names::new(py),
            templates: templates.collect::<PyResult<_>>()?,
            extensions: Extensions::new(py, options.debug)?,
            state: state.unbind(),
            root_path: options.root_path.clone().into_bytes(),
            texts: Cache::new(),
            octets: Cache::new(),
            pairs: Pairs::new(),
            connections: Connections::new(),
        })
    }

    /// The words of messages.
    pub(super) fn words(&self) -> &Rc<Words> {
        &self.words
    }

    /// The scope of an HTTP request.
    ///
    /// # Errors
    /// `MemoryError`.
    pub(super) fn http<'py>(
        &self,
        py: Python<'py>,
        origin: Origin<'_>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let mut connection = match self.connections.take(py, origin.slot) {
            Some(connection) => connection,
            None => Connection::new(origin.slot, self.peer(py, origin.peer)?),
        };
        let (scope, is_remembered) = self.without_method(py, &mut connection, origin)?;
        self.connections.put(py, connection);
        if is_remembered {
            self.copy_headers(&scope)?;
        }
        self.set_method(&scope, origin.request)?;
        let extensions = match origin.request.head.version {
            Version::Http10 => &self.extensions.http_10,
            _ => &self.extensions.http_11,
        };
        self.set_own(&scope, origin, extensions)?;
        Ok(scope)
    }

    /// The scope of a request that opens a WebSocket.
    ///
    /// # Errors
    /// `MemoryError`.
    pub(super) fn websocket<'py>(
        &self,
        py: Python<'py>,
        origin: Origin<'_>,
    ) -> PyResult<Bound<'py, PyDict>> {
        let Request { head, bytes } = origin.request;
        let scope = self.templates[origin.local.index].websocket.bind(py).copy()?;
        let client = self.peer(py, origin.peer)?;
        let mount_point = self.set_fields(&scope, &client, origin)?;
        self.set_target(&scope, origin.request, mount_point)?;
        let offered = subprotocols(head, bytes).map(|name| self.texts.text(py, name));
        let offered = PyList::new(py, offered.collect::<PyResult<Vec<_>>>()?)?;
        set(&scope, &self.words.subprotocols, &offered)?;
        self.set_own(&scope, origin, &self.extensions.websocket)?;
        Ok(scope)
    }

    /// A scope that lacks the method and what no two scopes share: a copy of what is remembered, as far as this head is like the
    /// ones before. Also whether what is remembered has the same list of headers.
    #[inline]
    fn without_method<'py>(
        &self,
        py: Python<'py>,
        connection: &mut Connection<Object>,
        origin: Origin<'_>,
    ) -> PyResult<(Bound<'py, PyDict>, bool)> {
        let Request { head, bytes } = origin.request;
        let (target, rest) = (head.target.raw.of(bytes), origin.request.rest());
        let Some(fields) = connection.heads.recall(rest) else {
            let scope = self.templates[origin.local.index].http.bind(py).copy()?;
            let mount_point = self.set_fields(&scope, &connection.peer, origin)?;
            // What a proxy says differs from request to request, and the path may depend on it.
            let is_noted = !head.is_forwarded() && connection.heads.note(rest, &scope)?;
            self.set_target(&scope, origin.request, mount_point)?;
            return Ok((scope, is_noted));
        };
        if let Some(same) = fields.below.recall(target) {
            return Ok((same.environ(py)?, true));
        }
        let scope = fields.environ(py)?;
        self.set_target(&scope, origin.request, None)?;
        fields.below.note(target, &scope)?;
        Ok((scope, true))
    }

    /// What the version and the fields say. Gives the mount point that a proxy tells.
    fn set_fields<'a>(
        &self,
        scope: &Bound<'_, PyDict>,
        client: &Object,
        origin: Origin<'a>,
    ) -> PyResult<Option<&'a [u8]>> {
        let py = scope.py();
        let head = origin.request.head;
        set(scope, &self.words.client, &client.bind(py))?;
        if head.version == Version::Http10 {
            set(scope, &self.words.http_version, self.words.http_10.bind(py))?;
        }
        let forwarded = head
            .is_forwarded()
            .then(|| origin.proxies.forwarded(head, origin.request.bytes, origin.peer));
        let host = forwarded.and_then(|forwarded| forwarded.host).or(origin.request.host());
        let headers = self.header_list(py, origin, host)?;
        set(scope, &self.words.headers, &headers)?;
        if let Some(forwarded) = &forwarded {
            self.set_forwarded(scope, forwarded, origin)?;
        }
        Ok(forwarded.and_then(|forwarded| forwarded.mount_point))
    }

    /// What each scope has for itself, as applications write to it.
    #[inline]
    fn set_own(
        &self,
        scope: &Bound<'_, PyDict>,
        origin: Origin<'_>,
        extensions: &Py<PyDict>,
    ) -> PyResult<()> {
        let py = scope.py();
        set(scope, &self.words.state, &self.state.bind(py).copy()?)?;
        set(scope, &self.words.extensions, &extensions.bind(py).copy()?)?;
        let Some(id) = origin.id else { return Ok(()) };
        let Some(headers) = scope.get_item(self.words.headers.bind(py))? else { return Ok(()) };
        let header = (self.names.known(py, Known::XRequestId), PyBytes::new(py, id));
        headers.cast_into::<PyList>()?.append(header)
    }

    /// Applications write to the list too.
    fn copy_headers(&self, scope: &Bound<'_, PyDict>) -> PyResult<()> {
        let key = &self.words.headers;
        let Some(headers) = scope.get_item(key.bind(scope.py()))? else { return Ok(()) };
        let headers = headers.cast_into::<PyList>()?;
        set(scope, key, &headers.get_slice(0, headers.len()))
    }

    /// The template says GET.
    #[inline]
    fn set_method(&self, scope: &Bound<'_, PyDict>, request: Request<'_>) -> PyResult<()> {
        let py = scope.py();
        match self.methods.name(request.head.method) {
            _ if request.head.method == Method::Get => Ok(()),
            Some(name) => set(scope, &self.words.method, name.bind(py)),
            None => {
                let name = latin1(py, request.head.method_span.of(request.bytes))?;
                set(scope, &self.words.method, &name)
            }
        }
    }

    /// Address and port; `None` for a Unix socket.
    fn peer(&self, py: Python<'_>, peer: Peer) -> PyResult<Object> {
        let Peer::Inet(address) = peer else { return Ok(Object::new(py.None().into_bound(py))) };
        let ip = self.texts.text(py, address_text(address).as_bytes())?;
        Ok(Object::new((ip, address.port()).into_pyobject(py)?))
    }
}
