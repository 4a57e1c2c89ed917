//! The headers of a response: an iterable of pairs of bytes.

use pronghorn_proto::encode::ResponseFields;
use pyo3::{
    exceptions::{PyTypeError, PyValueError},
    prelude::*,
    types::{PyByteArray, PyBytes, PyDict, PyList, PyString, PyTuple},
};

use super::{Message, repr};

impl<'py> Message<'_, 'py> {
    /// Puts the headers, if there are any, into `fields`. This may run code of the application.
    ///
    /// # Errors
    /// `TypeError` or `ValueError` that names the header.
    pub(in crate::asgi) fn headers(&self, fields: &mut ResponseFields) -> PyResult<()> {
        let Some(headers) = self.part(&self.words.headers)? else { return Ok(()) };
        if let Ok(list) = headers.cast_exact::<PyList>() {
            return list.iter().try_for_each(|header| self.header(fields, &header));
        }
        if is_text(&headers) || headers.is_instance_of::<PyDict>() || headers.is_none() {
            return Err(self.wrong(&headers, "headers", PAIRS));
        }
        let headers = headers.try_iter().map_err(|_| self.wrong(&headers, "headers", PAIRS))?;
        headers.into_iter().try_for_each(|header| self.header(fields, &header?))
    }

    /// Puts the links of `http.response.early_hint` into `fields`.
    ///
    /// # Errors
    /// As for [`headers`](Message::headers).
    pub(in crate::asgi) fn links(&self, fields: &mut ResponseFields) -> PyResult<()> {
        let links = self.needed(&self.words.links, "links")?;
        if is_text(&links) {
            return Err(self.wrong(&links, "links", "an iterable of bytes"));
        }
        for link in links.try_iter()? {
            self.push(fields, b"link", self.octets(link?, "link")?.as_bytes())?;
        }
        Ok(())
    }

    #[inline]
    fn header(&self, fields: &mut ResponseFields, header: &Bound<'py, PyAny>) -> PyResult<()> {
        let [name, value] = match header.cast_exact::<PyTuple>() {
            Ok(pair) if pair.len() == 2 => [pair.get_item(0)?, pair.get_item(1)?],
            _ => self.pair(header)?,
        };
        match (name.cast::<PyBytes>(), value.cast::<PyBytes>()) {
            (Ok(name), Ok(value)) => self.push(fields, name.as_bytes(), value.as_bytes()),
            _ => self.unusual(fields, name, value),
        }
    }

    /// Any iterable of two, but for those that are iterated by letter or by key.
    fn pair(&self, header: &Bound<'py, PyAny>) -> PyResult<[Bound<'py, PyAny>; 2]> {
        if let Ok(pair) = header.cast_exact::<PyList>()
            && pair.len() == 2
        {
            return Ok([pair.get_item(0)?, pair.get_item(1)?]);
        }
        if is_text(header) || header.is_instance_of::<PyDict>() {
            return Err(self.not_a_pair(header));
        }
        let items = header.try_iter().map_err(|_| self.not_a_pair(header))?;
        let items = items.take(3).collect::<PyResult<Vec<_>>>()?;
        items.try_into().map_err(|_| self.not_a_pair(header))
    }

    /// A header that is not of two `bytes`.
    #[cold]
    fn unusual(
        &self,
        fields: &mut ResponseFields,
        name: Bound<'py, PyAny>,
        value: Bound<'py, PyAny>,
    ) -> PyResult<()> {
        let label = format!("value of the header {}", repr(&name));
        let name = self.octets(name, "name of a header")?;
        let value = self.octets(value, &label)?;
        self.push(fields, name.as_bytes(), value.as_bytes())
    }

    #[inline]
    fn push(&self, fields: &mut ResponseFields, name: &[u8], value: &[u8]) -> PyResult<()> {
        fields
            .push(name, value)
            .map_err(|error| PyValueError::new_err(format!("{}: {error}", self.name)))
    }

    #[cold]
    fn not_a_pair(&self, header: &Bound<'_, PyAny>) -> PyErr {
        PyTypeError::new_err(format!(
            "a header of {} must be a pair of name and value, such as (b\"name\", b\"value\"), not {}",
            self.name,
            repr(header)
        ))
    }
}

/// What is iterated by letter or by byte.
fn is_text(object: &Bound<'_, PyAny>) -> bool {
    object.is_instance_of::<PyString>()
        || object.is_instance_of::<PyBytes>()
        || object.is_instance_of::<PyByteArray>()
}

const PAIRS: &str = "an iterable of (name, value) pairs of bytes";
