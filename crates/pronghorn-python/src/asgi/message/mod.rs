//! What an application sends: one message, read strictly. Each error names the message, the part of it, and what was expected.

mod file;
mod headers;
mod names;
mod websocket;

pub(super) use file::FilePart;
pub(super) use names::{RESPONSE, WEBSOCKET};
pub(super) use websocket::Data;

use std::fmt::Display;

use pyo3::{
    exceptions::{PyRuntimeError, PyTypeError, PyValueError},
    prelude::*,
    types::{PyBool, PyBytes, PyDict, PyInt, PyString},
};

use super::stage::Illegal;
use crate::{
    interned::{Text, Words},
    raw::{copied_from, one_byte},
};

/// A message whose type is known.
#[derive(Clone, Copy)]
pub(super) struct Message<'a, 'py> {
    dict: &'a Bound<'py, PyDict>,
    words: &'a Words,
    name: &'static str,
}

impl<'a, 'py> Message<'a, 'py> {
    /// The message in `dict` and which of `kinds`, all that are legal on its connection, it is.
    ///
    /// # Errors
    /// `ValueError` when it is none of them.
    #[inline]
    pub(super) fn read<K: Copy>(
        dict: &'a Bound<'py, PyDict>,
        words: &'a Words,
        kinds: &[(&'static str, K)],
    ) -> PyResult<(Self, K)> {
        let Some(name) = dict.get_item(words.kind.bind(dict.py()))? else {
            return Err(PyValueError::new_err("a message for send() needs the key 'type'"));
        };
        let text = one_byte(&name).ok().flatten().unwrap_or_default();
        match kinds.iter().find(|(kind, _)| kind.as_bytes() == text) {
            Some(&(name, kind)) => Ok((Message { dict, words, name }, kind)),
            None => Err(unknown(&name, kinds)),
        }
    }

    /// # Errors
    /// `RuntimeError` with the reason, if the message is not legal here.
    #[inline]
    pub(super) fn admit(&self, legal: Result<(), Illegal>) -> PyResult<()> {
        match legal {
            Ok(()) => Ok(()),
            Err(illegal) => {
                Err(PyRuntimeError::new_err(format!("{} is not legal here: {illegal}", self.name)))
            }
        }
    }

    /// The status of a response.
    ///
    /// # Errors
    /// `TypeError` or `ValueError`.
    pub(super) fn status(&self) -> PyResult<u16> {
        let status = self.needed(&self.words.status, "status")?;
        let code = self.integer(&status, "status")?;
        match u16::try_from(code) {
            Ok(code @ 200..=999) => Ok(code),
            _ => Err(PyValueError::new_err(format!(
                "the status of {} must be that of a final response, 200 to 999, not {code}",
                self.name
            ))),
        }
    }

    /// A part of a body, which may be left out.
    ///
    /// # Errors
    /// `TypeError` when it is not bytes-like.
    pub(super) fn body(&self) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let body = self.part(&self.words.body)?;
        body.map(|body| self.octets(body, "body")).transpose()
    }

    /// Whether another part of the body follows.
    ///
    /// # Errors
    /// What the object raises that is asked whether it is true.
    pub(super) fn more_body(&self) -> PyResult<bool> {
        self.flag(&self.words.more_body)
    }

    /// Whether trailers are to follow the body.
    ///
    /// # Errors
    /// As for [`more_body`](Message::more_body).
    pub(super) fn trailers(&self) -> PyResult<bool> {
        self.flag(&self.words.trailers)
    }

    /// Whether more trailers follow.
    ///
    /// # Errors
    /// As for [`more_body`](Message::more_body).
    pub(super) fn more_trailers(&self) -> PyResult<bool> {
        self.flag(&self.words.more_trailers)
    }

    /// What `http.response.debug` tells.
    ///
    /// # Errors
    /// `TypeError` when it is not a dict.
    pub(super) fn info(&self) -> PyResult<Bound<'py, PyDict>> {
        let info = self.needed(&self.words.info, "info")?;
        info.cast_into().map_err(|error| self.wrong(&error.into_inner(), "info", "a dict"))
    }

    /// What is at `key`.
    #[inline]
    fn part(&self, key: &Text) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.dict.get_item(key.bind(self.dict.py()))
    }

    /// As [`part`](Message::part); `None` is nothing.
    fn given(&self, key: &Text) -> PyResult<Option<Bound<'py, PyAny>>> {
        Ok(self.part(key)?.filter(|part| !part.is_none()))
    }

    fn needed(&self, key: &Text, part: &str) -> PyResult<Bound<'py, PyAny>> {
        self.part(key)?
            .ok_or_else(|| PyValueError::new_err(format!("{} needs the key '{part}'", self.name)))
    }

    fn flag(&self, key: &Text) -> PyResult<bool> {
        match self.part(key)? {
            Some(flag) => flag.is_truthy(),
            None => Ok(false),
        }
    }

    fn integer(&self, object: &Bound<'py, PyAny>, part: &str) -> PyResult<i64> {
        if !object.is_instance_of::<PyInt>() || object.is_instance_of::<PyBool>() {
            return Err(self.wrong(object, part, "an int"));
        }
        object.extract().map_err(|_| self.invalid(part, "is too large"))
    }

    fn string(&self, object: Bound<'py, PyAny>, part: &str) -> PyResult<Bound<'py, PyString>> {
        object.cast_into().map_err(|error| self.wrong(&error.into_inner(), part, "str"))
    }

    /// `object` itself, or the bytes of one that is like bytes.
    #[inline]
    fn octets(&self, object: Bound<'py, PyAny>, part: &str) -> PyResult<Bound<'py, PyBytes>> {
        match object.cast_into::<PyBytes>() {
            Ok(bytes) => Ok(bytes),
            Err(other) => {
                let object = other.into_inner();
                copied_from(&object)?.ok_or_else(|| self.wrong(&object, part, "bytes"))
            }
        }
    }

    #[cold]
    fn wrong(&self, object: &Bound<'_, PyAny>, part: &str, expected: &str) -> PyErr {
        let advice = match expected {
            "bytes" if object.is_instance_of::<PyString>() => ": encode it first",
            _ => "",
        };
        PyTypeError::new_err(format!(
            "the {part} of {} must be {expected}, not {}{advice}",
            self.name,
            described(object)
        ))
    }

    #[cold]
    fn invalid(&self, part: &str, reason: impl Display) -> PyErr {
        PyValueError::new_err(format!("the {part} of {} {reason}", self.name))
    }
}

#[cold]
fn unknown<K>(name: &Bound<'_, PyAny>, kinds: &[(&'static str, K)]) -> PyErr {
    if !name.is_instance_of::<PyString>() {
        let described = described(name);
        return PyTypeError::new_err(format!("the type of a message must be str, not {described}"));
    }
    let known = kinds.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    PyValueError::new_err(format!(
        "there is no message of type {} here: send() takes {known}",
        if is_short(name) { repr(name) } else { "that".to_owned() }
    ))
}

/// What it is, and which, if that is short.
fn described(object: &Bound<'_, PyAny>) -> String {
    match is_short(object) {
        true if object.is_none() => repr(object),
        true => format!("the {} {}", type_name(object), repr(object)),
        false => type_name(object),
    }
}

fn is_short(object: &Bound<'_, PyAny>) -> bool {
    match object.cast::<PyString>() {
        Ok(text) => text.len().is_ok_and(|length| length < LONGEST),
        Err(_) => object.is_none() || object.extract::<i64>().is_ok(),
    }
}

fn repr(object: &Bound<'_, PyAny>) -> String {
    object.repr().map_or_else(|_| type_name(object), |text| text.to_string_lossy().into_owned())
}

fn type_name(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map_or_else(|_| "an object".to_owned(), |name| name.to_string())
}

/// The longest text that an error tells.
const LONGEST: usize = 80;
