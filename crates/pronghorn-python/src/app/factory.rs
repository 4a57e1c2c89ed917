//! Calling what gives the application.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use super::interface::{Form, Role, role_of};
use super::{Found, StartError, explain};

/// What `factory` gives when it is called without arguments.
///
/// # Errors
/// It cannot be called, it looks like an application itself, it raises, or it gives nothing that could be an application.
pub(super) fn call<'py>(factory: &Found<'py>) -> Result<Bound<'py, PyAny>, StartError> {
    let name = &factory.name;
    if !factory.object.is_callable() {
        let kind = explain::type_name(&factory.object);
        return Err(StartError::new(format!(
            "{name} is no factory. It is of type {kind}, which cannot be called. Leave out () and --factory to \
             serve it itself."
        )));
    }
    let application = factory.object.call0().map_err(|error| failed(factory, &error))?;
    if application.is_none() {
        return Err(StartError::new(format!(
            "the factory {name} gave None. It has to return the application. Check that it ends with return."
        )));
    }
    if explain::type_name(&application) == "coroutine" {
        return Err(asynchronous(name, &application));
    }
    Ok(application)
}

fn failed(factory: &Found<'_>, error: &PyErr) -> StartError {
    let (py, name) = (factory.object.py(), &factory.name);
    // Without a traceback nothing of it has run: the call itself has too few arguments.
    let wants_arguments = error.is_instance_of::<PyTypeError>(py) && error.traceback(py).is_none();
    match role_of(&factory.object) {
        Role::Application(form) | Role::Likely(form) if wants_arguments => {
            let looks = match form {
                Form::Wsgi => "two arguments, as a WSGI application does",
                Form::Single => "three arguments, as an ASGI application does",
                Form::Double => "one argument, as an ASGI 2 application does",
            };
            StartError::new(format!(
                "{name} is no factory, which is called without arguments. It takes {looks}. Leave out () and --factory to \
                 serve it itself, or give its parameters defaults if it does make the application."
            ))
        }
        _ => explain::raised(py, &format!("calling the factory {name}"), error),
    }
}

fn asynchronous(name: &str, coroutine: &Bound<'_, PyAny>) -> StartError {
    // Python would warn that nobody has awaited it. It has not begun, so that no code of the application runs here.
    if let Err(error) = coroutine.call_method0("close") {
        error.write_unraisable(coroutine.py(), Some(coroutine));
    }
    StartError::new(format!(
        "the factory {name} gives a coroutine, as an async def does, which the server does not await. Make it a plain \
         def that returns the application."
    ))
}
