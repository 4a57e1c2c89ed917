//! What trusted proxies say, in the place of what the connection tells.

use pronghorn_engine::{Client, Forwarded, Scheme};
use pronghorn_proto::host;
use pyo3::{prelude::*, types::PyDict};

use super::{Origin, Scopes};
use crate::raw::set;

impl Scopes {
    /// Sets what a request's fields say of client, scheme, server and mount point, as far as they are believed.
    #[cold]
    pub(super) fn set_forwarded(
        &self,
        scope: &Bound<'_, PyDict>,
        forwarded: &Forwarded<'_>,
        origin: Origin<'_>,
    ) -> PyResult<()> {
        let py = scope.py();
        if forwarded.client != Client::from(origin.peer)
            && let Some(ip) = forwarded.client.ip
        {
            // The port is seldom told; that of the proxy's connection is not the client's.
            let ip = self.texts.text(py, ip.to_string().as_bytes())?;
            let client = (ip, forwarded.client.port.unwrap_or(0)).into_pyobject(py)?;
            set(scope, &self.words.client, &client)?;
        }
        if forwarded.scheme == Some(Scheme::Https) {
            self.set_https(scope)?;
        }
        if let Some(path) = forwarded.mount_point {
            set(scope, &self.words.root_path, &self.path_text(py, path)?)?;
        }
        self.set_server(scope, forwarded)
    }

    /// The template says http or ws.
    fn set_https(&self, scope: &Bound<'_, PyDict>) -> PyResult<()> {
        let py = scope.py();
        let is_websocket = scope.contains(self.words.subprotocols.bind(py))?;
        let scheme = if is_websocket { &self.words.wss } else { &self.words.https };
        set(scope, &self.words.scheme, scheme.bind(py))
    }

    /// The host and the port that the client asked for, as far as they are told. A Unix socket has the port that goes with the scheme.
    fn set_server(&self, scope: &Bound<'_, PyDict>, forwarded: &Forwarded<'_>) -> PyResult<()> {
        let py = scope.py();
        if forwarded.host.is_none() && forwarded.port.is_none() {
            return Ok(());
        }
        let Some(own) = scope.get_item(self.words.server.bind(py))? else { return Ok(()) };
        let (own_name, own_port): (Bound<'_, PyAny>, Option<u16>) = own.extract()?;
        let name = match forwarded.host {
            Some(host) => self.texts.text(py, host::split(host).0)?,
            None => own_name,
        };
        let usual = if forwarded.scheme == Some(Scheme::Https) { 443 } else { 80 };
        let port = forwarded.port.or(own_port).unwrap_or(usual);
        set(scope, &self.words.server, &(name, port).into_pyobject(py)?)
    }
}
