//! What CPython notes about the parameters of a function. The module `inspect` knows more, and takes memory that most
//! applications never need.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};

use super::explain;

/// The parameters that a call fills by position.
pub(super) struct Signature {
    flags: u32,
    /// Their names, without `self` and what a partial has filled.
    names: Vec<String>,
    /// How many of them have a default.
    defaults: usize,
    is_marked: bool,
}

impl Signature {
    /// Of the function that a call runs, if that is Python's: of a function, a method, a partial, or an instance's `__call__`.
    pub(super) fn of(object: &Bound<'_, PyAny>) -> Option<Self> {
        if is_partial(object) {
            return Self::of_partial(object).ok();
        }
        let function = match object.getattr("__code__") {
            Ok(_) => object.clone(),
            Err(_) => object.getattr("__call__").ok()?,
        };
        let is_marked = is_marked_coroutine(object) || is_marked_coroutine(&function);
        let signature = read(&function, function.hasattr("__self__").ok()?).ok()?;
        Some(Self { is_marked, ..signature })
    }

    /// Of the function below all decorators.
    pub(super) fn of_wrapped(object: &Bound<'_, PyAny>) -> Option<Self> {
        let mut inner = object.getattr("__wrapped__").ok()?;
        for _ in 0..MOST_DECORATORS {
            match inner.getattr("__wrapped__") {
                Ok(next) => inner = next,
                Err(_) => break,
            }
        }
        Self::of(&inner)
    }

    /// Of a method that `class` or one above it defines in Python, as its instances have it.
    pub(super) fn of_method(class: &Bound<'_, PyType>, name: &str) -> Option<Self> {
        let function = class.getattr(name).ok()?;
        // What is bound already is a method of the metaclass.
        let is_own = !function.hasattr("__self__").ok()?;
        is_own.then(|| read(&function, true).ok())?
    }

    fn of_partial(partial: &Bound<'_, PyAny>) -> PyResult<Self> {
        let filled = partial.getattr("args")?.cast_into::<PyTuple>()?.len();
        let named = partial.getattr("keywords")?.cast_into::<PyDict>()?;
        let Some(mut signature) = Self::of(&partial.getattr("func")?) else {
            return Err(pyo3::exceptions::PyTypeError::new_err("no function of Python"));
        };
        signature.names.drain(..filled.min(signature.names.len()));
        let end = signature.names.iter().position(|name| named.contains(name).unwrap_or(false));
        signature.names.truncate(end.unwrap_or(signature.names.len()));
        Ok(signature)
    }

    /// Whether a call with so many arguments fits.
    pub(super) fn takes(&self, count: usize) -> bool {
        let required = self.names.len().saturating_sub(self.defaults);
        required <= count && (count <= self.names.len() || self.flags & CO_VARARGS != 0)
    }

    /// Whether no argument has a place.
    pub(super) fn takes_nothing(&self) -> bool {
        self.names.is_empty() && self.flags & CO_VARARGS == 0
    }

    /// Whether the first parameter has this name.
    pub(super) fn begins_with(&self, name: &str) -> bool {
        self.names.first().is_some_and(|first| first == name)
    }

    /// Whether a call gives a coroutine.
    pub(super) fn is_coroutine(&self) -> bool {
        self.is_marked || self.flags & CO_COROUTINE != 0
    }

    /// Whether a call gives what is iterated asynchronously, and not awaited.
    pub(super) fn is_async_generator(&self) -> bool {
        self.flags & CO_ASYNC_GENERATOR != 0
    }
}

/// Whether a function says that its call gives a coroutine though it is not written `async`: as `inspect.markcoroutinefunction` and
/// asyncio before it note, and Cython.
pub(super) fn is_marked_coroutine(function: &Bound<'_, PyAny>) -> bool {
    ["_is_coroutine_mark", "_is_coroutine"]
        .iter()
        .any(|mark| function.getattr(*mark).is_ok_and(|value| !value.is_none()))
}

fn read(function: &Bound<'_, PyAny>, has_self: bool) -> PyResult<Signature> {
    let code = function.getattr("__code__")?;
    let count = code.getattr("co_argcount")?.extract::<usize>()?;
    let names = code.getattr("co_varnames")?.extract::<Vec<String>>()?;
    let skipped = usize::from(has_self && count > 0);
    Ok(Signature {
        flags: code.getattr("co_flags")?.extract()?,
        names: names.into_iter().take(count).skip(skipped).collect(),
        defaults: function.getattr("__defaults__").map_or(Ok(0), |defaults| {
            match defaults.is_none() {
                true => Ok(0),
                false => defaults.len(),
            }
        })?,
        is_marked: false,
    })
}

/// Without importing functools, which most applications never need.
fn is_partial(object: &Bound<'_, PyAny>) -> bool {
    explain::type_name(object) == "functools.partial"
}

/// Against a function that wraps itself.
const MOST_DECORATORS: usize = 100;

// Flags of code objects, the same in every CPython since 3.6: inspect.CO_VARARGS, CO_COROUTINE, CO_ASYNC_GENERATOR.
const CO_VARARGS: u32 = 0x04;
const CO_COROUTINE: u32 = 0x80;
const CO_ASYNC_GENERATOR: u32 = 0x200;
