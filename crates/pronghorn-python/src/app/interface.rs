//! How an object can be called: as WSGI, as ASGI, or as neither.

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyType};

use super::signature::{self, Signature};

/// How an application is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// With environ and `start_response` (PEP 3333).
    Wsgi,
    /// With scope, receive and send, which gives what is awaited (ASGI 3).
    Single,
    /// With scope, and then what that gives with receive and send (ASGI 2).
    Double,
}

/// What an object can be used as, as far as can be told without a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// An application of this form and of no other.
    Application(Form),
    /// Of this form, most likely: nothing tells.
    Likely(Form),
    /// A function or class without parameters.
    Factory,
    /// A coroutine function without parameters.
    AsyncFactory,
    /// A function that is both `async` and has a `yield`.
    AsyncGenerator,
    /// A class whose instances are applications, and that is made with arguments.
    Class,
    /// A coroutine function whose parameters are not those of ASGI.
    UnfitCoroutine,
    /// A function whose parameters are those of no interface.
    Unfit,
    /// Nothing that is called.
    NotCallable,
}

/// What `object` can be used as.
pub(super) fn role_of(object: &Bound<'_, PyAny>) -> Role {
    if !object.is_callable() {
        return Role::NotCallable;
    }
    if let Some(form) = marked(object) {
        return Role::Application(form);
    }
    match object.cast::<PyType>() {
        Ok(class) => role_of_class(class),
        Err(_) => role_of_callable(object),
    }
}

/// What the decorators of `asgiref.compatibility` say.
fn marked(object: &Bound<'_, PyAny>) -> Option<Form> {
    let says = |mark: &str| {
        object.getattr(mark).is_ok_and(|value| value.is(PyBool::new(object.py(), true)))
    };
    match () {
        () if says("_asgi_single_callable") => Some(Form::Single),
        () if says("_asgi_double_callable") => Some(Form::Double),
        () => None,
    }
}

/// A class is called to make an instance. Of an ASGI 2 class that takes scope, and the instance receive and send; one of
/// WSGI is iterated, one of ASGI 3 awaited.
fn role_of_class(class: &Bound<'_, PyType>) -> Role {
    let made = Signature::of_method(class, "__init__");
    let takes = |count| made.as_ref().is_none_or(|made| made.takes(count));
    if class.hasattr("__await__").unwrap_or(false) && takes(3) {
        return Role::Application(Form::Single);
    }
    let Some(called) = Signature::of_method(class, "__call__") else {
        return Role::Likely(Form::Wsgi);
    };
    match made {
        None => Role::Factory,
        Some(made) if made.takes(0) => Role::Factory,
        Some(made) if made.takes(1) && called.is_coroutine() && called.takes(2) => {
            Role::Application(Form::Double)
        }
        Some(made) if made.takes(2) && class.hasattr("__iter__").unwrap_or(false) => {
            Role::Likely(Form::Wsgi)
        }
        Some(_) => Role::Class,
    }
}

fn role_of_callable(object: &Bound<'_, PyAny>) -> Role {
    let Some(signature) = Signature::of(object) else {
        return role_of_foreign(object);
    };
    if signature.is_async_generator() {
        return Role::AsyncGenerator;
    }
    if signature.is_coroutine() {
        return role_of_coroutine_function(&signature);
    }
    match (signature.takes(2), signature.takes(3)) {
        _ if signature.takes_nothing() => Role::Factory,
        (true, true) => role_of_open(object, &signature),
        (true, false) => Role::Application(Form::Wsgi),
        (false, true) => Role::Application(Form::Single),
        (false, false) if signature.takes(1) && signature.begins_with("scope") => {
            Role::Application(Form::Double)
        }
        (false, false) => Role::Unfit,
    }
}

fn role_of_coroutine_function(signature: &Signature) -> Role {
    match signature.takes(3) {
        _ if signature.takes_nothing() => Role::AsyncFactory,
        true => Role::Application(Form::Single),
        false => Role::UnfitCoroutine,
    }
}

/// The parameters are those of both interfaces, as with `*args`.
fn role_of_open(object: &Bound<'_, PyAny>, signature: &Signature) -> Role {
    match signature.begins_with("scope") {
        true => Role::Application(Form::Single),
        false => Role::Likely(form_of_wrapped(object)),
    }
}

/// What is not written in Python tells its parameters to nobody, but may be marked.
fn role_of_foreign(object: &Bound<'_, PyAny>) -> Role {
    match signature::is_marked_coroutine(object) {
        true => Role::Application(Form::Single),
        false => Role::Likely(form_of_wrapped(object)),
    }
}

/// A decorator takes anything; the function below it tells more.
fn form_of_wrapped(object: &Bound<'_, PyAny>) -> Form {
    match Signature::of_wrapped(object) {
        Some(wrapped) if is_single(&wrapped) => Form::Single,
        _ => Form::Wsgi,
    }
}

fn is_single(signature: &Signature) -> bool {
    signature.takes(3) && (signature.is_coroutine() || !signature.takes(2))
}
