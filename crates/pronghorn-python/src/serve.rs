//! From settings and an application to a server that runs: listeners, handler, signals.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use pronghorn_engine::{
    Config, Control, Deadlines, Early, Handler, Listener, Metrics, Replacement, Server, WebSockets,
    Witness,
};
use pronghorn_proto::limits::Limits;
use pyo3::prelude::*;

use crate::app::{Application, Interface, StartError};
use crate::logging::Delivery;
use crate::monitoring::{early, monitored};
use crate::settings::{Settings, reason};
use crate::wsgi::{self, WsgiHandler, WsgiOptions};
use crate::{access_log, asgi, fork, reload, signals, statsd};

/// Who runs this process, and what it is to tell them.
pub(crate) trait Role {
    /// Becomes who the application is to run as.
    ///
    /// # Errors
    /// The system refuses.
    fn settle(&self, py: Python<'_>) -> Result<(), StartError>;
    /// Who tells the server what to do, if this is the main thread of its process.
    fn control(&mut self) -> Control;
    /// How the server asks for another process in its place.
    fn replacement(&mut self) -> Option<Replacement> {
        None
    }
    /// Whether a supervisor ends the process if it does not end by itself. Others then serve the same application: even of one
    /// worker there are two while it is replaced.
    fn is_supervised(&self) -> bool {
        false
    }
    /// Where the process counts, if others count beside it.
    fn metrics(&self) -> Option<Arc<Metrics>> {
        None
    }
    /// How long the health check fails before an ordered drain begins; whoever orders it may have waited already.
    fn drain_delay(&self, _settings: &Settings) -> Duration {
        Duration::ZERO
    }
    /// Whether nobody else serves while the application is imported: then the process answers for itself.
    fn is_first(&self) -> bool {
        false
    }
    /// Who is told how the server is.
    fn witness(&self) -> Option<Arc<dyn Witness>> {
        None
    }
    /// After how many requests it is to ask.
    fn max_requests(&self) -> Option<u64> {
        None
    }
    /// The server is about to answer requests.
    fn ready(&self, listeners: &[String]);
}

/// Serves the application that `load` gives at `listeners` until the server is drained.
///
/// # Errors
/// What keeps it from starting.
pub(crate) fn serve(
    py: Python<'_>,
    settings: &Settings,
    load: impl FnOnce() -> Result<Application, StartError>,
    listeners: Vec<Listener>,
    role: &mut dyn Role,
) -> Result<(), StartError> {
    let replacement = role.replacement();
    let config = Config {
        replacement: replacement.clone(),
        witness: role.witness(),
        max_requests: role.max_requests(),
        ..config(settings)?
    };
    let config = monitored(config, settings, role)?;
    // Listeners and logs are open: what comes now needs no rights.
    role.settle(py)?;
    let early = early(&config, &listeners, role)?;
    reload::note_files(settings);
    let application = load()?;
    if settings.debug {
        log::warn!("debug is on: clients see the tracebacks of failures");
    }
    fork::watch(py)
        .map_err(|error| StartError::new(format!("the server cannot start. {error}.")))?;
    let delivery = Delivery::begin(py);
    let watch = replacement.and_then(reload::watch);
    let is_main = signals::put_aside(py);
    let control = if is_main { role.control() } else { Control::Nobody };
    let names = listeners.iter().map(ToString::to_string).collect::<Vec<_>>();
    let seen =
        Seen { wsgi: wsgi_options(settings, &listeners, role), asgi: asgi_listeners(&listeners) };
    let make = |handler: Arc<dyn Handler>| {
        let mut server = Server::new(config, listeners, handler, control)?;
        server.adopt(early.map_or_else(Vec::new, Early::finish));
        Ok(server)
    };
    let ready = || role.ready(&names);
    let served = match application.interface {
        Interface::Wsgi => serve_wsgi(py, application.callable, seen.wsgi, make, ready),
        Interface::Asgi => asgi::serve(py, application.callable, settings, seen.asgi, make, ready),
    };
    match role.is_supervised() {
        true => signals::ignore_terminate(py),
        false => signals::put_back(py),
    }
    delivery.end(py);
    watch.into_iter().for_each(|watch| watch.end(py));
    served
}

/// What applications are told of the listeners.
struct Seen {
    wsgi: WsgiOptions,
    asgi: Vec<asgi::Listener>,
}

fn serve_wsgi(
    py: Python<'_>,
    application: Py<PyAny>,
    options: WsgiOptions,
    make: impl FnOnce(Arc<dyn Handler>) -> io::Result<Server>,
    ready: impl FnOnce(),
) -> Result<(), StartError> {
    let handler = WsgiHandler::new(py, application.into_bound(py), options)
        .map_err(|error| StartError::new(format!("the application cannot be served. {error}.")))?;
    let server = make(Arc::new(handler)).map_err(|error| cannot_start(&error))?;
    ready();
    py.detach(|| server.run()).map_err(|error| cannot_start(&error))
}

fn asgi_listeners(listeners: &[Listener]) -> Vec<asgi::Listener> {
    let locals = listeners.iter().enumerate().map(|(index, listener)| listener.local(index));
    locals.map(|local| asgi::Listener { name: local.name, port: local.port.parse().ok() }).collect()
}

fn wsgi_options(settings: &Settings, listeners: &[Listener], role: &dyn Role) -> WsgiOptions {
    WsgiOptions {
        multithread: settings.threads > 1,
        multiprocess: role.is_supervised(),
        debug: settings.debug,
        url_scheme: "http".to_owned(),
        script_name: settings.root_path.clone().unwrap_or_default(),
        listeners: listeners.iter().enumerate().map(as_the_application_sees).collect(),
    }
}

/// Tells people what is started.
pub(crate) fn announce_start() {
    log::info!("Starting pronghorn {}", env!("CARGO_PKG_VERSION"));
}

/// Tells people that the server is there.
pub(crate) fn announce(listeners: &[String]) {
    for listener in listeners {
        log::info!("Listening at: {listener} ({})", std::process::id());
    }
}

pub(crate) fn cannot_start(error: &io::Error) -> StartError {
    StartError::new(format!(
        "the server cannot start. {} Check the limits of open files and processes (ulimit -n, ulimit -u).",
        reason(error)
    ))
}

fn as_the_application_sees((index, listener): (usize, &Listener)) -> wsgi::Listener {
    let local = listener.local(index);
    wsgi::Listener { name: local.name, port: local.port, unix: local.unix }
}

fn config(settings: &Settings) -> Result<Config, StartError> {
    Ok(Config {
        limits: Limits {
            request_line: settings.limit_request_line as usize,
            field: settings.limit_request_field_size as usize,
            fields: settings.limit_fields_total as usize,
            field_count: settings.limit_request_fields as usize,
            chunk_extensions: settings.limit_chunk_extensions as usize,
            trailers: settings.limit_trailers as usize,
            body: settings.max_body,
        },
        deadlines: Deadlines {
            head: settings.head_timeout,
            body: settings.body_timeout,
            body_rate: settings.body_min_rate,
            keep_alive: settings.keep_alive,
            write: settings.write_timeout,
            linger: settings.linger_timeout,
            graceful: settings.graceful_timeout,
            request: on(settings.request_timeout),
            request_grace: settings.request_timeout_grace,
            slow_request: on(settings.slow_request),
            disconnect_grace: on(settings.disconnect_grace),
            queue: on(settings.queue_timeout),
            ..idle_at_drain(settings)
        },
        threads: settings.threads as usize,
        promote_after: settings.promote_after,
        body_buffer: settings.body_buffer,
        read_ahead: settings.asgi_receive_buffer as usize,
        write_ahead: settings.asgi_send_buffer as usize,
        websockets: WebSockets {
            max_size: settings.ws_max_size as usize,
            max_queue: settings.ws_max_queue as usize,
            ping_interval: on(settings.ws_ping_interval),
            ping_timeout: on(settings.ws_ping_timeout),
            deflate: settings.ws_per_message_deflate,
        },
        max_connections: settings.max_connections as usize,
        max_concurrency: settings.max_concurrency.map(|most| most as usize),
        server: settings
            .server_header
            .then(|| concat!("pronghorn/", env!("CARGO_PKG_VERSION")).to_owned()),
        date: settings.date_header,
        proxies: settings.proxies(),
        request_ids: settings.request_id,
        access: access_log::open(settings)?,
        statsd: statsd::start(settings)?,
        ..Config::default()
    })
}

/// A browser keeps its connections: with `reload` they end with the code they were opened to.
fn idle_at_drain(settings: &Settings) -> Deadlines {
    match settings.reload {
        true => Deadlines { drain_idle: Duration::ZERO, ..Deadlines::default() },
        false => Deadlines::default(),
    }
}

/// A deadline of 0 is none.
fn on(deadline: Duration) -> Option<Duration> {
    (!deadline.is_zero()).then_some(deadline)
}
