//! What `start_response` is told: the status and the fields, checked and taken over.

use pronghorn_proto::{encode::ResponseFields, status::StatusLine};
use pyo3::{
    exceptions::{PyAssertionError, PyTypeError, PyValueError},
    prelude::*,
    types::{PyList, PyTuple},
};

use super::call::{Call, Status};
use crate::raw::one_byte;

/// Takes the status and the fields of a response (PEP 3333, "The start_response() Callable") and gives `write`.
///
/// # Errors
/// `AssertionError` at a second call without `exc_info`; the exception of `exc_info` when the head was sent already;
/// `TypeError` or `ValueError` that names the part that is wrong.
pub(super) fn start<'py>(
    call: &Call<'py, '_, '_>,
    status: &Bound<'py, PyAny>,
    headers: &Bound<'py, PyAny>,
    exc_info: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    match exc_info.filter(|exc_info| !exc_info.is_none()) {
        Some(exc_info) if call.started() => return Err(exception_of(exc_info)),
        None if call.has_status() => return Err(called_twice()),
        _ => call.forget_status(),
    }
    let code = code_of(status)?;
    call.with_fields(|fields| {
        fields.clear();
        take_headers(fields, headers)
    })?;
    call.set_status(Status::new(code, status.clone()));
    Ok(call.write().clone())
}

fn code_of(status: &Bound<'_, PyAny>) -> PyResult<u16> {
    let text = characters(status, || "the status".to_owned())?;
    match StatusLine::parse(text) {
        Ok(line) if line.code() < 200 => Err(interim(status)),
        Ok(line) => Ok(line.code()),
        Err(error) => Err(PyValueError::new_err(format!("{error}, not {}", repr(status)))),
    }
}

fn take_headers(fields: &mut ResponseFields, headers: &Bound<'_, PyAny>) -> PyResult<()> {
    if let Ok(list) = headers.cast_exact::<PyList>() {
        return list.iter().try_for_each(|header| take_header(fields, &header));
    }
    if headers.is_instance_of::<PyList>() || headers.is_instance_of::<PyTuple>() {
        return headers.try_iter()?.try_for_each(|header| take_header(fields, &header?));
    }
    Err(PyTypeError::new_err(format!(
        "the headers must be a list of (name, value) tuples, not {}",
        type_name(headers)
    )))
}

#[inline]
fn take_header(fields: &mut ResponseFields, header: &Bound<'_, PyAny>) -> PyResult<()> {
    let Some([name, value]) = header.cast::<PyTuple>().ok().map(|pair| pair.as_slice()) else {
        return Err(not_a_pair(header));
    };
    let name_bytes = characters(name, || format!("the header name {}", repr(name)))?;
    let value_bytes = characters(value, || format!("the value of header {}", repr(name)))?;
    fields.push(name_bytes, value_bytes).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// The latin-1 bytes of `object`; `part` says in an error what it is.
#[inline]
fn characters<'a>(object: &'a Bound<'_, PyAny>, part: impl Fn() -> String) -> PyResult<&'a [u8]> {
    match one_byte(object) {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(PyValueError::new_err(format!(
            "{} has characters outside latin-1 (ISO-8859-1): {}",
            part(),
            repr(object)
        ))),
        Err(_) => {
            Err(PyTypeError::new_err(format!("{} must be str, not {}", part(), type_name(object))))
        }
    }
}

#[cold]
fn not_a_pair(header: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!("a header must be a (name, value) tuple, not {}", repr(header)))
}

/// A response ends a request; one before it (RFC 9110 section 15.2) is the server's to send.
#[cold]
fn interim(status: &Bound<'_, PyAny>) -> PyErr {
    PyValueError::new_err(format!(
        "the status must be that of a final response, 200 to 599, not {}",
        repr(status)
    ))
}

#[cold]
fn called_twice() -> PyErr {
    PyAssertionError::new_err(
        "start_response was called a second time without exc_info: the first status and headers stand",
    )
}

/// The exception in a `sys.exc_info()` tuple, with its traceback.
fn exception_of(exc_info: &Bound<'_, PyAny>) -> PyErr {
    match exc_info.get_item(1) {
        Ok(value) => PyErr::from_value(value),
        Err(error) => error,
    }
}

fn type_name(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map_or_else(|_| "an object".to_owned(), |name| name.to_string())
}

fn repr(object: &Bound<'_, PyAny>) -> String {
    object.repr().map_or_else(|_| type_name(object), |text| text.to_string_lossy().into_owned())
}
