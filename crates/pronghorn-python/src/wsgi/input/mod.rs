//! `wsgi.input` (PEP 3333, "Input and Error Streams"): reads as `io.BytesIO` does, wherever the body is.

mod empty;
mod source;

use std::sync::Arc;

use pronghorn_engine::Body;
use pyo3::{
    prelude::*,
    types::{PyBytes, PyList},
};

pub(super) use empty::EmptyInput;
use source::Source;

use super::raw::Link;

/// The body of a request, and how far it was read.
#[pyclass(name = "input", module = "pronghorn")]
pub(super) struct Input {
    source: Source,
    position: u64,
}

/// An input that was made for a body, and its way to the request when the body is still expected.
pub(super) struct NewInput<'py> {
    pub(super) object: Bound<'py, PyAny>,
    pub(super) link: Option<Arc<Link>>,
}

impl Input {
    /// An input for `body`; `None` when there is none.
    ///
    /// # Errors
    /// `MemoryError`.
    pub(super) fn of<'py>(py: Python<'py>, body: Body) -> PyResult<Option<NewInput<'py>>> {
        let (source, link) = match body {
            Body::None => return Ok(None),
            Body::Expected => {
                let link = Arc::new(Link::closed());
                (Source::Expected(Arc::clone(&link)), Some(link))
            }
            body => (Source::of(py, body)?, None),
        };
        let object = Bound::new(py, Input { source, position: 0 })?.into_any();
        Ok(Some(NewInput { object, link }))
    }
}

#[pymethods]
impl Input {
    /// The next `size` bytes or what is left of them; all that is left when `size` is negative or None.
    #[pyo3(signature = (size = -1, /))]
    fn read<'py>(&mut self, py: Python<'py>, size: Option<isize>) -> PyResult<Bound<'py, PyBytes>> {
        let left = self.left(py)?;
        let size = at_most(size, left);
        self.take(py, size)
    }

    /// The next line with its end, or as much of it as `size` allows.
    #[pyo3(signature = (size = -1, /))]
    fn readline<'py>(
        &mut self,
        py: Python<'py>,
        size: Option<isize>,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let left = self.left(py)?;
        let line = self.source.line_length(py, self.position, at_most(size, left))?;
        self.take(py, line)
    }

    /// The lines that are left; no more once they have `hint` bytes, if it is positive.
    #[pyo3(signature = (hint = None, /))]
    fn readlines<'py>(
        &mut self,
        py: Python<'py>,
        hint: Option<isize>,
    ) -> PyResult<Bound<'py, PyList>> {
        let lines = PyList::empty(py);
        let hint = hint.filter(|&hint| hint > 0).map_or(u64::MAX, |hint| hint as u64);
        let start = self.position;
        loop {
            let line = self.readline(py, None)?;
            if line.as_bytes().is_empty() {
                return Ok(lines);
            }
            lines.append(line)?;
            if self.position - start >= hint {
                return Ok(lines);
            }
        }
    }

    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let line = self.readline(py, None)?;
        Ok(Some(line).filter(|line| !line.as_bytes().is_empty()))
    }
}

impl Input {
    /// How many bytes were not read yet. An expected body is received first.
    fn left(&mut self, py: Python<'_>) -> PyResult<u64> {
        self.source.receive(py)?;
        Ok(self.source.length(py) - self.position)
    }

    /// The next `size` bytes, which are there.
    fn take<'py>(&mut self, py: Python<'py>, size: u64) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self.source.bytes(py, self.position, size as usize)?;
        self.position += size;
        Ok(bytes)
    }
}

/// `size` as `io` understands it.
fn at_most(size: Option<isize>, left: u64) -> u64 {
    match size {
        Some(size) if size >= 0 => left.min(size as u64),
        _ => left,
    }
}
