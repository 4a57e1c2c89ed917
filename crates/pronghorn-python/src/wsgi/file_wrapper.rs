//! `wsgi.file_wrapper` (PEP 3333, "Optional Platform-Specific File Handling"): a file that is sent by the kernel when it can be.

use std::{
    fs::{File, Metadata},
    os::unix::fs::MetadataExt,
};

use pyo3::{intern, prelude::*, sync::PyOnceLock, types::PyType};

use crate::raw::duplicate;

/// An iterator over the blocks of a file-like object.
#[pyclass(name = "file_wrapper", module = "pronghorn", frozen)]
pub(super) struct FileWrapper {
    /// The object given.
    #[pyo3(get)]
    filelike: Py<PyAny>,
    /// Bytes asked for at a time.
    #[pyo3(get)]
    blksize: isize,
}

/// The part of a file that a response sends.
pub(super) struct Region {
    pub(super) file: File,
    pub(super) offset: u64,
    pub(super) length: u64,
}

#[pymethods]
impl FileWrapper {
    #[new]
    #[pyo3(signature = (filelike, blksize = 8192))]
    fn new(filelike: Py<PyAny>, blksize: isize) -> Self {
        FileWrapper { filelike, blksize }
    }

    fn __iter__(this: Py<Self>) -> Py<Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let block = self.filelike.bind(py).call_method1(intern!(py, "read"), (self.blksize,))?;
        Ok(if block.is_truthy()? { Some(block) } else { None })
    }

    /// Closes the file, if it can be closed.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        match self.filelike.bind(py).getattr_opt(intern!(py, "close"))? {
            Some(close) => close.call0().map(drop),
            None => Ok(()),
        }
    }
}

impl FileWrapper {
    /// What is left of the file from its current position on; `None` when its bytes are not those of a regular file.
    ///
    /// # Errors
    /// Those of the file's own methods, and of `dup` and `fstat`.
    pub(super) fn region(wrapper: &Bound<'_, Self>) -> PyResult<Option<Region>> {
        let py = wrapper.py();
        let filelike = plain_file(wrapper.get().filelike.bind(py))?;
        let Some(filelike) = filelike else { return Ok(None) };
        filelike.call_method0(intern!(py, "flush"))?;
        let offset: u64 = filelike.call_method0(intern!(py, "tell"))?.extract()?;
        let file = duplicate(filelike.call_method0(intern!(py, "fileno"))?.extract()?)?;
        let metadata = file.metadata()?;
        let length = metadata.len().saturating_sub(offset);
        Ok(tells_its_size(&metadata).then_some(Region { file, offset, length }))
    }
}

/// The file object itself when reading it gives the bytes of its descriptor and nothing else. Others have a descriptor too, but
/// decompress what they read from it, say.
fn plain_file<'py>(filelike: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = filelike.py();
    let types = FileTypes::get(py)?;
    let inner = match filelike.get_type().fully_qualified_name()? == TEMPORARY {
        true => filelike.getattr(intern!(py, "file"))?,
        false => filelike.clone(),
    };
    let raw = match types.buffered.iter().any(|buffered| reads_as(&inner, buffered.bind(py))) {
        true => inner.getattr(intern!(py, "raw"))?,
        false => inner.clone(),
    };
    if !reads_as(&raw, types.raw.bind(py)) || inner.getattr(intern!(py, "closed"))?.is_truthy()? {
        return Ok(None);
    }
    let can = |name| inner.call_method0(name)?.is_truthy();
    let both = can(intern!(py, "readable"))? && can(intern!(py, "seekable"))?;
    Ok(both.then_some(inner))
}

/// Whether the size is that of the contents. The files of /proc and /sys say 0 or a page, whatever they hold, and occupy nothing.
fn tells_its_size(metadata: &Metadata) -> bool {
    metadata.is_file() && (metadata.blocks() > 0 || metadata.len() > PAGE)
}

/// Whether `file` is a `base`, or of a derived class that leaves alone how it is read.
fn reads_as<'py>(file: &Bound<'py, PyAny>, base: &Bound<'py, PyType>) -> bool {
    let class = file.get_type();
    let inherits = |name: &str| match (class.getattr(name), base.getattr(name)) {
        (Ok(own), Ok(inherited)) => own.is(&inherited),
        _ => false,
    };
    class.is(base)
        || (file.is_instance(base).unwrap_or(false)
            && ["read", "readinto", "seek", "tell", "fileno"].into_iter().all(inherits))
}

/// The types of Python's own files.
struct FileTypes {
    raw: Py<PyType>,
    buffered: [Py<PyType>; 2],
}

impl FileTypes {
    fn get(py: Python<'_>) -> PyResult<&'static Self> {
        static TYPES: PyOnceLock<FileTypes> = PyOnceLock::new();
        TYPES.get_or_try_init(py, || {
            let named = |name: &str| -> PyResult<Py<PyType>> {
                Ok(py.import("io")?.getattr(name)?.cast_into::<PyType>()?.unbind())
            };
            Ok(FileTypes {
                raw: named("FileIO")?,
                buffered: [named("BufferedReader")?, named("BufferedRandom")?],
            })
        })
    }
}

/// What `tempfile.NamedTemporaryFile` gives: a shell around a file. Known by name, so that a server that needs no temporary
/// files does not import the module.
const TEMPORARY: &str = "tempfile._TemporaryFileWrapper";
/// The most that a file of /sys says of its size.
const PAGE: u64 = 4096;
