//! From addresses to listeners that are open.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, ToSocketAddrs};

use pronghorn_engine::{Bind, Listener};

use crate::app::StartError;
use crate::settings::{Address, Settings, reason};

/// Every listener that is wanted, open.
///
/// # Errors
/// The first that cannot be opened, and why.
pub(crate) fn open_all(settings: &Settings) -> Result<Vec<Listener>, StartError> {
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
pub(crate) fn reason_of_creating(error: &io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "Its folder does not exist.".to_owned(),
        _ => reason(error),
    }
}
