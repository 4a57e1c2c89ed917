//! Where a body is: in a `bytes` object, in a file, or still with the client.

use std::{fs::File, os::unix::fs::FileExt, sync::Arc};

use memchr::memchr;
use pronghorn_engine::Body;
use pyo3::{prelude::*, types::PyBytes};

use crate::{
    raw::{BytesBuffer, copied},
    wsgi::raw::Link,
};

/// A body that can be read at any position.
pub(super) enum Source {
    Memory(Py<PyBytes>),
    File(Window),
    /// The client sends it when the application first asks (RFC 9110 section 10.1.1).
    Expected(Arc<Link>),
}

impl Source {
    /// A body that was received.
    ///
    /// # Errors
    /// `MemoryError`.
    pub(super) fn of(py: Python<'_>, body: Body) -> PyResult<Self> {
        Ok(match body {
            Body::File(file, length) => Source::File(Window::new(file, length)),
            Body::Memory(bytes) => Source::Memory(copied(py, &bytes)?.unbind()),
            Body::Buffer(buffer) => {
                let buffer = buffer.into_any().downcast::<BytesBuffer>().ok();
                let bytes = buffer.and_then(|buffer| buffer.into_bytes(py));
                Source::Memory(bytes.unwrap_or_else(|| PyBytes::new(py, b"")).unbind())
            }
            Body::None | Body::Expected => Source::Memory(PyBytes::new(py, b"").unbind()),
        })
    }

    /// Waits for an expected body.
    ///
    /// # Errors
    /// `OSError` when it did not come whole; `RuntimeError` when its request has ended or runs in another thread.
    pub(super) fn receive(&mut self, py: Python<'_>) -> PyResult<()> {
        if let Source::Expected(link) = self {
            let body = link.with(py, |call| call.receive_body())?;
            *self = Source::of(py, body)?;
        }
        Ok(())
    }

    /// Bytes in all. The body was received.
    pub(super) fn length(&self, py: Python<'_>) -> u64 {
        match self {
            Source::Memory(bytes) => bytes.as_bytes(py).len() as u64,
            Source::File(window) => window.length,
            Source::Expected(_) => 0,
        }
    }

    /// `size` bytes from `position` on, all of them there. The whole of a body in memory is given without a copy.
    ///
    /// # Errors
    /// `MemoryError`; `OSError` when the file cannot be read.
    pub(super) fn bytes<'py>(
        &mut self,
        py: Python<'py>,
        position: u64,
        size: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        match self {
            Source::Memory(bytes) if size == bytes.as_bytes(py).len() => {
                Ok(bytes.clone_ref(py).into_bound(py))
            }
            Source::Memory(bytes) => {
                let start = position as usize;
                copied(py, &bytes.as_bytes(py)[start..start + size])
            }
            Source::File(window) => {
                PyBytes::new_with(py, size, |bytes| Ok(window.read(py, position, bytes)?))
            }
            Source::Expected(_) => Ok(PyBytes::new(py, b"")),
        }
    }

    /// The length of the line at `position`, its end included, up to `most` bytes, which are there.
    ///
    /// # Errors
    /// `OSError` when the file cannot be read.
    pub(super) fn line_length(
        &mut self,
        py: Python<'_>,
        position: u64,
        most: u64,
    ) -> PyResult<u64> {
        match self {
            Source::Memory(bytes) => {
                let rest = &bytes.as_bytes(py)[position as usize..][..most as usize];
                Ok(memchr(b'\n', rest).map_or(most, |end| end as u64 + 1))
            }
            Source::File(window) => Ok(window.line_length(py, position, most)?),
            Source::Expected(_) => Ok(0),
        }
    }
}

/// A file and the part of it that was read last.
pub(super) struct Window {
    file: File,
    length: u64,
    start: u64,
    bytes: Vec<u8>,
}

impl Window {
    fn new(file: File, length: u64) -> Self {
        Window { file, length, start: 0, bytes: Vec::new() }
    }

    /// Fills `out` from `position` on: from the window if all is in it, else from the file.
    fn read(&mut self, py: Python<'_>, position: u64, out: &mut [u8]) -> std::io::Result<()> {
        if out.len() < WINDOW {
            let mut filled = 0;
            while filled < out.len() {
                let part = self.at(py, position + filled as u64)?;
                let size = part.len().min(out.len() - filled);
                out[filled..filled + size].copy_from_slice(&part[..size]);
                filled += size;
            }
            return Ok(());
        }
        let file = &self.file;
        py.detach(|| file.read_exact_at(out, position))
    }

    fn line_length(&mut self, py: Python<'_>, position: u64, most: u64) -> std::io::Result<u64> {
        let mut seen = 0;
        while seen < most {
            let part = self.at(py, position + seen)?;
            if let Some(end) = memchr(b'\n', part) {
                return Ok(most.min(seen + end as u64 + 1));
            }
            seen += part.len() as u64;
        }
        Ok(most)
    }

    /// Some bytes from `position` on, which is before the end.
    fn at(&mut self, py: Python<'_>, position: u64) -> std::io::Result<&[u8]> {
        let end = self.start + self.bytes.len() as u64;
        if !(self.start..end).contains(&position) {
            let size = (self.length - position).min(WINDOW as u64) as usize;
            self.bytes.resize(size, 0);
            self.start = position;
            let (file, bytes) = (&self.file, &mut self.bytes);
            let read = py.detach(|| file.read_exact_at(bytes, position));
            if read.is_err() {
                self.bytes.clear();
            }
            read?;
        }
        Ok(&self.bytes[(position - self.start) as usize..])
    }
}

/// Bytes of a file held in memory for small reads and lines.
const WINDOW: usize = 64 * 1024;
