//! Whether an object can be a WSGI application.

use pyo3::prelude::*;
use pyo3::types::PyType;

use super::{StartError, explain};

/// Checks that `application`, which people know as `name`, can be called the way PEP 3333 calls it.
///
/// # Errors
/// What cannot be called, an ASGI application, or a factory that was not called.
pub fn check_wsgi(application: &Bound<'_, PyAny>, name: &str) -> Result<(), StartError> {
    match role_of(application) {
        Role::Application => Ok(()),
        Role::Factory => Err(factory(name)),
        Role::Asgi => Err(asgi(name)),
        Role::NotCallable => Err(not_callable(name, &explain::type_name(application))),
    }
}

/// What an object can be used as, as far as can be told without a call.
pub(super) enum Role {
    /// A WSGI application.
    Application,
    /// A function without parameters.
    Factory,
    /// A coroutine function.
    Asgi,
    /// Nothing that is called.
    NotCallable,
}

/// What `object` can be used as.
pub(super) fn role_of(object: &Bound<'_, PyAny>) -> Role {
    match code_of(object) {
        _ if !object.is_callable() => Role::NotCallable,
        Some(code) if code.is_asynchronous() => Role::Asgi,
        Some(code) if code.takes_nothing() => Role::Factory,
        _ => Role::Application,
    }
}

/// What CPython notes about a function written in Python.
struct Code {
    flags: u32,
    parameters: u32,
    is_method: bool,
}

impl Code {
    fn is_asynchronous(&self) -> bool {
        self.flags & (CO_COROUTINE | CO_ASYNC_GENERATOR) != 0
    }

    /// Neither `environ` nor `start_response` has a place.
    fn takes_nothing(&self) -> bool {
        self.flags & CO_VARARGS == 0 && self.parameters == u32::from(self.is_method)
    }
}

/// The code a call would run, if it is Python's: of a function, a method, or an instance's `__call__`.
///
/// A class is called to make an instance, which tells nothing of its `__call__`.
fn code_of(application: &Bound<'_, PyAny>) -> Option<Code> {
    if application.is_instance_of::<PyType>() {
        return None;
    }
    let function = match application.getattr("func") {
        Ok(inner) if is_partial(application) => inner,
        _ => application.clone(),
    };
    let function = match function.getattr("__code__") {
        Ok(_) => function,
        Err(_) => function.getattr("__call__").ok()?,
    };
    read_code(&function).ok()
}

fn read_code(function: &Bound<'_, PyAny>) -> PyResult<Code> {
    let code = function.getattr("__code__")?;
    Ok(Code {
        flags: code.getattr("co_flags")?.extract()?,
        parameters: code.getattr("co_argcount")?.extract()?,
        is_method: function.hasattr("__self__")?,
    })
}

/// Without importing functools, which most applications never need.
fn is_partial(object: &Bound<'_, PyAny>) -> bool {
    explain::type_name(object) == "functools.partial"
}

fn not_callable(name: &str, kind: &str) -> StartError {
    StartError::new(format!(
        "{name} is no application. It is of type {kind}, which cannot be called. Name the WSGI callable, which \
         takes environ and start_response."
    ))
}

fn asgi(name: &str) -> StartError {
    StartError::new(format!(
        "{name} is an ASGI application: calling it gives a coroutine. This version serves WSGI. Name a WSGI \
         callable, or serve it with an ASGI server."
    ))
}

fn factory(name: &str) -> StartError {
    StartError::new(format!(
        "{name} takes no arguments. A WSGI application takes environ and start_response, so this looks like a \
         factory. Write \"{name}()\" to serve what it returns."
    ))
}

// Flags of code objects, the same in every CPython since 3.6: inspect.CO_VARARGS, CO_COROUTINE, CO_ASYNC_GENERATOR.
const CO_VARARGS: u32 = 0x04;
const CO_COROUTINE: u32 = 0x80;
const CO_ASYNC_GENERATOR: u32 = 0x200;
