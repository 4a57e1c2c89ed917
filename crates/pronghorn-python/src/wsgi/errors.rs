//! `wsgi.errors` (PEP 3333, "Input and Error Streams"): whatever `sys.stderr` is at the time.

use pyo3::{intern, prelude::*, types::PyString};

/// A text stream that writes to `sys.stderr`.
#[pyclass(name = "errors", module = "pronghorn", frozen)]
pub(super) struct ErrorStream;

#[pymethods]
impl ErrorStream {
    /// Writes `text` and gives its length.
    #[pyo3(signature = (text, /))]
    fn write(&self, text: &Bound<'_, PyString>) -> PyResult<usize> {
        if let Some(stderr) = stderr(text.py())? {
            stderr.call_method1(intern!(text.py(), "write"), (text,))?;
        }
        text.len()
    }

    /// Writes each of `lines`.
    #[pyo3(signature = (lines, /))]
    fn writelines(&self, lines: &Bound<'_, PyAny>) -> PyResult<()> {
        lines.try_iter()?.try_for_each(|line| {
            let line = line?;
            self.write(line.cast::<PyString>()?).map(drop)
        })
    }

    /// Lets nothing wait in a buffer.
    fn flush(&self, py: Python<'_>) -> PyResult<()> {
        match stderr(py)? {
            Some(stderr) => stderr.call_method0(intern!(py, "flush")).map(drop),
            None => Ok(()),
        }
    }
}

/// `None` when the process has none, as under `pythonw` or after a daemon closed it.
fn stderr(py: Python<'_>) -> PyResult<Option<Bound<'_, PyAny>>> {
    let stderr = py.import(intern!(py, "sys"))?.getattr_opt(intern!(py, "stderr"))?;
    Ok(stderr.filter(|stderr| !stderr.is_none()))
}
