//! The headers of a scope: names in lower case and values as bytes, in order, as they came.

use pronghorn_proto::field::{Field, Known};
use pyo3::{
    prelude::*,
    types::{PyBytes, PyList},
};

use super::{Origin, Scopes};
use crate::{
    asgi::raw::{HeaderList, pair},
    request::{is_of_proxy, is_secret},
};

/// The names of known fields.
pub(super) struct Names(Box<[Py<PyBytes>]>);

impl Names {
    pub(super) fn new(py: Python<'_>) -> Self {
        let name = |known: &Known| PyBytes::new(py, known.name().as_bytes()).unbind();
        Names(Known::all().iter().map(name).collect())
    }

    /// The name of `known`, one object for all.
    #[inline]
    pub(super) fn known<'py>(&self, py: Python<'py>, known: Known) -> &Bound<'py, PyBytes> {
        self.0[known as usize].bind(py)
    }
}

impl Scopes {
    /// The headers of a request to `host`, without what the application is not to see.
    pub(super) fn header_list<'py>(
        &self,
        py: Python<'py>,
        origin: Origin<'_>,
        host: Option<&[u8]>,
    ) -> PyResult<Bound<'py, PyList>> {
        let head = origin.request.head;
        // Room for a host that the target has named, and no field.
        let mut list = HeaderList::new(py, head.fields.len() + 1)?;
        for field in &head.fields {
            let value = field.value.of(origin.request.bytes);
            match field.known {
                Some(Known::Proxy) => {}
                Some(Known::XRequestId) if origin.id.is_some() => {}
                Some(known) if is_of_proxy(known) && !origin.shows(known) => {}
                Some(known) => {
                    let value = host.filter(|_| known == Known::Host).unwrap_or(value);
                    let name = self.names.known(py, known);
                    list.push(match is_secret(known) {
                        true => pair(name, value)?,
                        false => self.pairs.pair(name, value)?,
                    });
                }
                None => self.push_unknown(py, &mut list, origin, field)?,
            }
        }
        if let Some(host) = host.filter(|_| !head.has(Known::Host)) {
            list.push(self.pairs.pair(self.names.known(py, Known::Host), host)?);
        }
        list.finish()
    }

    /// A name with an underscore could pass for another with a dash, which proxies check: it is dropped.
    #[inline(never)]
    fn push_unknown<'py>(
        &self,
        py: Python<'py>,
        list: &mut HeaderList<'py>,
        origin: Origin<'_>,
        field: &Field,
    ) -> PyResult<()> {
        let bytes = origin.request.bytes;
        let (name, value) = (field.name.of(bytes), field.value.of(bytes));
        if name.contains(&b'_') || !origin.proxies.shows_name(origin.peer, name) {
            return Ok(());
        }
        let name = self.octets.object(py, &name.to_ascii_lowercase())?;
        list.push(pair(name.cast::<PyBytes>()?, value)?);
        Ok(())
    }
}

impl Origin<'_> {
    /// Whether the application may see a field of this name: what is not believed it may not.
    #[cold]
    fn shows(&self, known: Known) -> bool {
        self.proxies.shows(self.peer, known)
    }
}
