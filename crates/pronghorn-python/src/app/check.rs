//! Whether an object is an application, and of which interface.

use pyo3::prelude::*;

use super::interface::{Form, Role, role_of};
use super::{Application, Interface, StartError, double::DoubleCallable, explain};
use crate::settings::{InterfaceChoice, Words as _};

/// The application that `object` is, which people know as `name`, with the interface that was asked for or else its own.
///
/// # Errors
/// It is none, or not of the interface that was asked for.
pub fn recognize(
    object: Bound<'_, PyAny>,
    name: &str,
    choice: InterfaceChoice,
) -> Result<Application, StartError> {
    let form = form_of(&object, name, choice)?;
    let interface = match form {
        Form::Wsgi => Interface::Wsgi,
        Form::Single | Form::Double => Interface::Asgi,
    };
    let callable = match form {
        Form::Double => DoubleCallable::adapt(&object),
        Form::Wsgi | Form::Single => Ok(object.unbind()),
    };
    let callable =
        callable.map_err(|error| StartError::new(format!("{name} cannot be served. {error}.")))?;
    Ok(Application { callable, interface })
}

fn form_of(
    object: &Bound<'_, PyAny>,
    name: &str,
    choice: InterfaceChoice,
) -> Result<Form, StartError> {
    let role = role_of(object);
    match role {
        Role::Application(form) if fits(choice, form) => Ok(form),
        Role::Application(form) => Err(wrong_choice(name, choice, form)),
        Role::Likely(form) => Ok(asked_for(choice).unwrap_or(form)),
        Role::Unfit | Role::UnfitCoroutine => Err(unfit(name, role == Role::UnfitCoroutine)),
        Role::Factory => Err(factory(name)),
        Role::AsyncFactory => Err(asynchronous_factory(name)),
        Role::AsyncGenerator => Err(asynchronous_generator(name)),
        Role::Class => Err(class(name)),
        Role::NotCallable => Err(not_callable(name, &explain::type_name(object))),
    }
}

fn fits(choice: InterfaceChoice, form: Form) -> bool {
    match choice {
        InterfaceChoice::Auto => true,
        InterfaceChoice::Asgi => form != Form::Wsgi,
        InterfaceChoice::Wsgi | InterfaceChoice::Asgi3 | InterfaceChoice::Asgi2 => {
            asked_for(choice) == Some(form)
        }
    }
}

fn asked_for(choice: InterfaceChoice) -> Option<Form> {
    match choice {
        InterfaceChoice::Auto => None,
        InterfaceChoice::Wsgi => Some(Form::Wsgi),
        InterfaceChoice::Asgi | InterfaceChoice::Asgi3 => Some(Form::Single),
        InterfaceChoice::Asgi2 => Some(Form::Double),
    }
}

fn wrong_choice(name: &str, choice: InterfaceChoice, form: Form) -> StartError {
    let (kind, takes, right) = match form {
        Form::Wsgi => ("a WSGI", "environ and start_response", "wsgi"),
        Form::Single => ("an ASGI", "scope, receive and send", "asgi"),
        Form::Double => ("an ASGI 2", "scope, and then receive and send", "asgi2"),
    };
    StartError::new(format!(
        "{name} is {kind} application, which takes {takes}, and interface is {}. Set it to {right}, or leave it out.",
        choice.word()
    ))
}

fn not_callable(name: &str, kind: &str) -> StartError {
    StartError::new(format!(
        "{name} is no application. It is of type {kind}, which cannot be called. Name the callable, which takes {PARAMETERS}."
    ))
}

fn unfit(name: &str, is_async: bool) -> StartError {
    let (kind, takes) = match is_async {
        true => ("an async function", "An ASGI application takes scope, receive and send"),
        false => (
            "a function",
            "A WSGI application takes environ and start_response, one of ASGI scope, receive and send",
        ),
    };
    StartError::new(format!(
        "{name} is {kind} whose parameters are not those of an application. {takes}. Correct them, or name another."
    ))
}

fn factory(name: &str) -> StartError {
    StartError::new(format!(
        "{name} takes no arguments, so it looks like a factory. An application takes {PARAMETERS}. Write \"{name}()\" to serve \
         what it returns."
    ))
}

fn asynchronous_factory(name: &str) -> StartError {
    StartError::new(format!(
        "{name} is an async function without parameters: no application, which takes scope, receive and send, and no \
         factory, which is not async. Leave out async, or name the application."
    ))
}

fn asynchronous_generator(name: &str) -> StartError {
    StartError::new(format!(
        "{name} is an async function with a yield, which cannot be awaited. An ASGI application gives its body to send. \
         Take out yield, or name another."
    ))
}

fn class(name: &str) -> StartError {
    StartError::new(format!(
        "{name} is a class that is made with arguments; its instances may be applications. Make one in the module, and name that."
    ))
}

const PARAMETERS: &str = "environ and start_response (WSGI) or scope, receive and send (ASGI)";
