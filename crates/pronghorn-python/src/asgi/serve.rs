//! From an application to an event loop that serves it, and to its end.

use std::{io, rc::Rc, sync::Arc, time::Instant};

use pronghorn_engine::{Handler, Server};
use pyo3::prelude::*;

use super::{
    drain::{Announcement, Drain},
    ending,
    engine::Engine,
    event_loop::EventLoop,
    handler::AsgiHandler,
    host::{Host, Parts, Turns},
    http::Events,
    lifespan::Lifespan,
    raw::Types,
    scope::{Listener, ScopeOptions, Scopes},
    task::Tasks,
};
use crate::{
    app::{self, StartError},
    attach,
    serve::cannot_start,
    settings::{DrainChoice, Settings},
};

/// Serves `application`, by the server that `make` gives, until that is drained. `ready` tells who waits for it.
///
/// # Errors
/// What keeps it from starting.
pub(crate) fn serve(
    py: Python<'_>,
    application: Py<PyAny>,
    settings: &Settings,
    listeners: Vec<Listener>,
    make: impl FnOnce(Arc<dyn Handler>) -> io::Result<Server>,
    ready: impl FnOnce(),
) -> Result<(), StartError> {
    // This thread is to the engine what its own threads are.
    attach::adopted(py, || {
        let application = application.bind(py);
        let serving = Serving::start(py, application, settings, listeners, make)?;
        ready();
        serving.until_over(py, settings)
    })
}

/// A server that serves.
struct Serving<'py> {
    event_loop: EventLoop<'py>,
    lifespan: Lifespan<'py>,
    host: Rc<Host>,
    engine: Rc<dyn Engine>,
}

impl<'py> Serving<'py> {
    fn start(
        py: Python<'py>,
        application: &Bound<'py, PyAny>,
        settings: &Settings,
        listeners: Vec<Listener>,
        make: impl FnOnce(Arc<dyn Handler>) -> io::Result<Server>,
    ) -> Result<Self, StartError> {
        let event_loop = EventLoop::new(py, settings.r#loop)?;
        let (choice, within) = (settings.lifespan, settings.start_timeout);
        let lifespan = match Lifespan::start_up(&event_loop, application, choice, within) {
            Ok(lifespan) => lifespan,
            Err(error) => {
                event_loop.end(Instant::now() + settings.graceful_timeout);
                return Err(error);
            }
        };
        let failed = |error: PyErr| app::raised(py, "preparing for the application", &error);
        let parts = parts(&event_loop, &lifespan, application, settings, listeners);
        let parts = parts.map_err(failed)?;
        let applications = parts.types.applications(py);
        let handler = AsgiHandler::new(event_loop.object(), applications).map_err(failed)?;
        let handler = Arc::new(handler);
        let hosted = make(handler).and_then(Server::host).map_err(|error| cannot_start(&error))?;
        let host = Host::new(hosted, parts);
        let engine: Rc<dyn Engine> = Rc::new(Turns(host.clone()));
        event_loop.connect(&engine).map_err(failed)?;
        Ok(Serving { event_loop, lifespan, host, engine })
    }

    /// Serves until the server has drained and no request's task is left, then ends the application and the loop.
    fn until_over(self, py: Python<'py>, settings: &Settings) -> Result<(), StartError> {
        let Serving { event_loop, lifespan, host, engine } = self;
        let ran = event_loop.run(|| host.is_over());
        let deadline =
            host.deadline().unwrap_or_else(|| Instant::now() + settings.graceful_timeout);
        let left = event_loop.disconnect(&engine);
        ending::wait_for_cut(&event_loop, &host.stop_serving(py));
        lifespan.shut_down(&event_loop, deadline);
        drop(engine);
        event_loop.end(deadline);
        host.end();
        ran.and(left).map_err(|error| app::raised(py, "running the event loop", &error))
    }
}

fn parts<'py>(
    event_loop: &EventLoop<'py>,
    lifespan: &Lifespan<'py>,
    application: &Bound<'py, PyAny>,
    settings: &Settings,
    listeners: Vec<Listener>,
) -> PyResult<Parts> {
    let object = event_loop.object();
    let options = ScopeOptions {
        root_path: settings.root_path.clone().unwrap_or_default(),
        debug: settings.debug,
        listeners,
    };
    let announcement = (settings.drain_streams == DrainChoice::Lifespan)
        .then(|| Box::new(lifespan.announcement()) as Announcement);
    let scopes = Scopes::new(&options, lifespan.state().clone())?;
    let events = Rc::new(Events::new(object.py(), scopes.words())?);
    Ok(Parts {
        application: application.clone().unbind(),
        event_loop: object.clone().unbind(),
        scopes,
        events,
        types: Types::new(object.py(), object.clone())?,
        tasks: Tasks::new(object)?,
        debug: settings.debug,
        grace: settings.request_timeout_grace,
        stop: event_loop.stopper(),
        drain: Drain {
            graceful: settings.graceful_timeout,
            tells_streams: settings.drain_streams == DrainChoice::Disconnect,
            announcement,
        },
    })
}
