//! What trusted proxies say, in the place of what the connection tells.

use pronghorn_engine::{Client, Exchange, Forwarded, Scheme};
use pronghorn_proto::{field::Known, host};
use pyo3::{prelude::*, types::PyDict};

use super::environ::Environ;
use crate::raw::{latin1, set};

impl Environ {
    /// Sets what a request's fields say of client, scheme, host and mount point, as far as they are believed.
    #[cold]
    pub(super) fn set_forwarded(
        &self,
        environ: &Bound<'_, PyDict>,
        exchange: &Exchange<'_>,
    ) -> PyResult<()> {
        let forwarded = exchange.forwarded();
        if forwarded.client != Client::from(exchange.peer()) {
            self.set_client(environ, forwarded.client)?;
        }
        if let Some(scheme) = forwarded.scheme {
            self.set_scheme(environ, scheme, exchange.local().unix)?;
        }
        if let Some(path) = forwarded.mount_point {
            set(environ, &self.names.script_name, &self.texts.text(environ.py(), path)?)?;
        }
        self.set_host(environ, &forwarded)
    }

    /// The port is seldom told; that of the proxy's connection is not the client's.
    fn set_client(&self, environ: &Bound<'_, PyDict>, client: Client) -> PyResult<()> {
        let py = environ.py();
        if let Some(ip) = client.ip {
            let ip = self.texts.text(py, ip.to_string().as_bytes())?;
            set(environ, &self.names.remote_addr, &ip)?;
        }
        let key = &self.names.remote_port;
        match client.port {
            Some(port) => set(environ, key, &latin1(py, port.to_string().as_bytes())?),
            None if environ.contains(key)? => environ.del_item(key),
            None => Ok(()),
        }
    }

    /// A Unix socket has the port that goes with its scheme.
    fn set_scheme(&self, environ: &Bound<'_, PyDict>, scheme: Scheme, unix: bool) -> PyResult<()> {
        let py = environ.py();
        let (name, port) = match scheme {
            Scheme::Http => (&self.names.http, b"80".as_slice()),
            Scheme::Https => (&self.names.https, b"443".as_slice()),
        };
        set(environ, &self.names.url_scheme, name.bind(py))?;
        match unix {
            true => set(environ, &self.names.server_port, &self.texts.text(py, port)?),
            false => Ok(()),
        }
    }

    fn set_host(&self, environ: &Bound<'_, PyDict>, forwarded: &Forwarded<'_>) -> PyResult<()> {
        let py = environ.py();
        if let Some(host) = forwarded.host {
            set(environ, &self.names.host, &self.texts.text(py, host)?)?;
            set(environ, &self.names.server_name, &self.texts.text(py, host::split(host).0)?)?;
        }
        match forwarded.port {
            Some(port) => {
                let port = self.texts.text(py, port.to_string().as_bytes())?;
                set(environ, &self.names.server_port, &port)
            }
            None => Ok(()),
        }
    }
}

/// Whether the application may see a field of this name: what is not believed it may not.
#[cold]
pub(super) fn shows(exchange: &Exchange<'_>, known: Known) -> bool {
    exchange.proxies().shows(exchange.peer(), known)
}
