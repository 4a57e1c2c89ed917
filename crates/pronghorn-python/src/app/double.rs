//! Applications of ASGI 2, called as those of ASGI 3.

use pyo3::prelude::*;

/// Calls an application with scope, and what that gives with receive and send.
#[pyclass(frozen, module = "pronghorn._pronghorn")]
pub(super) struct DoubleCallable {
    application: Py<PyAny>,
}

impl DoubleCallable {
    /// `application` as one of ASGI 3.
    ///
    /// # Errors
    /// `MemoryError`.
    pub(super) fn adapt(application: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        let adapted = DoubleCallable { application: application.clone().unbind() };
        Ok(Bound::new(application.py(), adapted)?.into_any().unbind())
    }
}

#[pymethods]
impl DoubleCallable {
    fn __call__<'py>(
        &self,
        scope: &Bound<'py, PyAny>,
        receive: &Bound<'py, PyAny>,
        send: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.application.bind(scope.py()).call1((scope,))?.call1((receive, send))
    }
}
