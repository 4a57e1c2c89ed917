//! From settings and an application to a server that runs: listeners, handler, signals.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::time::Duration;

use pronghorn_engine::{AccessLog, Bind, Config, Deadlines, Listener, Server};
use pronghorn_proto::limits::Limits;
use pyo3::prelude::*;

use crate::app::StartError;
use crate::settings::{Address, Settings, reason};
use crate::wsgi::{self, WsgiHandler, WsgiOptions};
use crate::{fork, signals};

/// Serves `application` until the server is drained.
///
/// # Errors
/// What keeps it from starting.
pub(crate) fn serve(
    py: Python<'_>,
    settings: &Settings,
    application: Bound<'_, PyAny>,
) -> Result<(), StartError> {
    let listeners = open_listeners(settings)?;
    let options = WsgiOptions {
        multithread: settings.threads > 1,
        multiprocess: false,
        url_scheme: "http".to_owned(),
        script_name: String::new(),
        listeners: listeners.iter().enumerate().map(as_the_application_sees).collect(),
    };
    let handler = WsgiHandler::new(py, application, options)
        .map_err(|error| StartError::new(format!("the application cannot be served. {error}.")))?;
    let config = config(settings)?;
    fork::watch(py)
        .map_err(|error| StartError::new(format!("the server cannot start. {error}.")))?;
    let with_signals = signals::put_aside(py);
    announce(&listeners);
    let served = Server::new(config, listeners, Arc::new(handler), with_signals)
        .and_then(|server| py.detach(|| server.run()));
    signals::put_back(py);
    served.map_err(|error| cannot_start(&error))
}

/// Every listener that is wanted, open.
fn open_listeners(settings: &Settings) -> Result<Vec<Listener>, StartError> {
    let backlog = settings.backlog as i32;
    settings.bind.iter().map(|address| open(address, backlog)).collect()
}

fn open(address: &Address, backlog: i32) -> Result<Listener, StartError> {
    resolve(address)
        .and_then(|bind| Listener::open(&bind, backlog))
        .map_err(|error| cannot_listen(address, &error))
}

fn resolve(address: &Address) -> io::Result<Bind> {
    Ok(match address {
        Address::Tcp { host, port } => Bind::Tcp(look_up(host, *port)?),
        Address::Unix(path) => Bind::Unix(path.clone()),
        Address::Fd(number) => Bind::Fd(i32::try_from(*number).unwrap_or(i32::MAX)),
    })
}

/// The first address the resolver knows for `host`, as gunicorn takes it.
fn look_up(host: &str, port: u16) -> io::Result<SocketAddr> {
    let mut addresses = (host, port).to_socket_addrs()?;
    addresses.next().ok_or_else(|| io::Error::from(ErrorKind::AddrNotAvailable))
}

fn cannot_listen(address: &Address, error: &io::Error) -> StartError {
    let advice = match error.kind() {
        ErrorKind::AddrInUse => "Stop the process that listens there, or choose another address.",
        ErrorKind::PermissionDenied if is_privileged(address) => {
            "Ports below 1024 need the capability CAP_NET_BIND_SERVICE: choose a higher port, or let \
             systemd or a proxy listen there."
        }
        ErrorKind::AddrNotAvailable => "Choose an address that this machine has.",
        _ => "Check bind.",
    };
    let reason = match address {
        Address::Unix(_) => reason_of_creating(error),
        _ => reason(error),
    };
    StartError::new(format!("cannot listen on {address}. {reason} {advice}"))
}

fn is_privileged(address: &Address) -> bool {
    matches!(address, Address::Tcp { port: 1..1024, .. })
}

/// Why a file or a socket could not be created, as a sentence.
fn reason_of_creating(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "Its folder does not exist.".to_owned(),
        _ => reason(error),
    }
}

fn cannot_start(error: &io::Error) -> StartError {
    StartError::new(format!(
        "the server cannot start. {} Check the limits of open files and processes (ulimit -n, ulimit -u).",
        reason(error)
    ))
}

fn as_the_application_sees((index, listener): (usize, &Listener)) -> wsgi::Listener {
    let local = listener.local(index);
    wsgi::Listener { name: local.name, port: local.port, unix: local.unix }
}

fn announce(listeners: &[Listener]) {
    log::info!("Starting pronghorn {}", env!("CARGO_PKG_VERSION"));
    for listener in listeners {
        log::info!("Listening at: {listener} ({})", std::process::id());
    }
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
            queue: on(settings.queue_timeout),
            ..Deadlines::default()
        },
        threads: settings.threads as usize,
        promote_after: settings.promote_after,
        body_buffer: settings.body_buffer,
        max_connections: settings.max_connections as usize,
        max_concurrency: settings.max_concurrency.map(|most| most as usize),
        server: settings
            .server_header
            .then(|| concat!("pronghorn/", env!("CARGO_PKG_VERSION")).to_owned()),
        date: settings.date_header,
        access: open_access_log(settings)?,
        ..Config::default()
    })
}

/// A deadline of 0 is none.
fn on(deadline: Duration) -> Option<Duration> {
    (!deadline.is_zero()).then_some(deadline)
}

fn open_access_log(settings: &Settings) -> Result<Option<Arc<AccessLog>>, StartError> {
    let Some(path) = &settings.access_log else { return Ok(None) };
    let file = match path.as_str() {
        "-" => io::stdout().as_fd().try_clone_to_owned().map(File::from),
        path => File::options().create(true).append(true).open(path),
    };
    file.and_then(AccessLog::new).map(|log| Some(Arc::new(log))).map_err(|error| {
        StartError::new(format!(
            "cannot open the access log {path}. {} Check access-log.",
            reason_of_creating(&error)
        ))
    })
}
