//! The path of a scope, decoded and as it came, and its query.

use std::borrow::Cow;

use pronghorn_proto::{percent, target::Form};
use pyo3::{
    prelude::*,
    types::{PyDict, PyString},
};

use super::Scopes;
use crate::{
    raw::{copied, set},
    request::Request,
};

impl Scopes {
    /// Sets path and query; the template says that the query is empty. `mount_point` is the one that a proxy tells, which has taken
    /// it off.
    pub(super) fn set_target(
        &self,
        scope: &Bound<'_, PyDict>,
        request: Request<'_>,
        mount_point: Option<&[u8]>,
    ) -> PyResult<()> {
        let py = scope.py();
        let target = &request.head.target;
        let raw = match (target.form, target.path.of(request.bytes)) {
            // An absolute target may stop after its authority: that is the root (RFC 9112 section 3.2.1).
            (Form::Absolute, []) => b"/",
            (Form::Asterisk, _) => b"*",
            (_, path) => path,
        };
        set(scope, &self.words.raw_path, &self.octets.object(py, raw)?)?;
        // A query may hold secrets, which connections are not to share, and is seldom seen twice.
        if let Some(query) = target.query.filter(|query| !query.is_empty()) {
            set(scope, &self.words.query_string, &copied(py, query.of(request.bytes))?)?;
        }
        let decoded = decoded(raw);
        let path = match mount_point {
            Some(mount_point) => Cow::Owned([mount_point, &decoded].concat()),
            None => mounted(&self.root_path, decoded),
        };
        set(scope, &self.words.path, &self.path_text(py, &path)?)
    }

    /// Bytes that are not UTF-8 are replaced, as `urllib.parse.unquote` does: U+FFFD.
    #[inline]
    pub(super) fn path_text<'py>(
        &self,
        py: Python<'py>,
        path: &[u8],
    ) -> PyResult<Bound<'py, PyAny>> {
        match path.is_ascii() {
            true => self.texts.text(py, path),
            false => Ok(PyString::new(py, &String::from_utf8_lossy(path)).into_any()),
        }
    }
}

fn decoded(path: &[u8]) -> Cow<'_, [u8]> {
    if !percent::needs_decoding(path) {
        return Cow::Borrowed(path);
    }
    let mut decoded = Vec::new();
    percent::decode_path(path, &mut decoded);
    Cow::Owned(decoded)
}

/// A path has the mount point in front (ASGI, "HTTP Connection Scope"). A proxy may have left it there, or taken it off.
fn mounted<'a>(root_path: &[u8], path: Cow<'a, [u8]>) -> Cow<'a, [u8]> {
    let inside = path.strip_prefix(root_path).is_some_and(|rest| matches!(rest, [] | [b'/', ..]));
    match inside || root_path.is_empty() || *path == *b"*" {
        true => path,
        false => Cow::Owned([root_path, &path].concat()),
    }
}
