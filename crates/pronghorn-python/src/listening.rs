//! From addresses to listeners that are open.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::fd::RawFd;

use pronghorn_engine::{Access, Bind, Listener};
use pyo3::prelude::*;

use crate::app::StartError;
use crate::identity;
use crate::settings::{Address, Settings, reason};

/// Every listener that is wanted, open. `inherited`: the sockets that systemd opened.
///
/// # Errors
/// The first that cannot be opened, and why.
pub(crate) fn open_all(
    settings: &Settings,
    manner: &Manner,
    inherited: &[RawFd],
) -> Result<Vec<Listener>, StartError> {
    let addresses = settings.addresses(inherited);
    tell_of_unused(inherited, &addresses);
    addresses.iter().map(|address| manner.open(address)).collect()
}

/// How listeners are opened.
#[derive(Debug)]
pub(crate) struct Manner {
    backlog: i32,
    access: Access,
}

impl Manner {
    /// As the settings say, with every name looked up.
    ///
    /// # Errors
    /// A name in `uds-owner` that nobody has.
    pub(crate) fn resolve(py: Python<'_>, settings: &Settings) -> Result<Self, StartError> {
        let owner = settings.uds_owner.as_ref();
        let user = owner.and_then(|owner| owner.user.as_deref());
        let group = owner.and_then(|owner| owner.group.as_deref());
        let access = Access {
            mode: settings.uds_mode,
            user: user.map(|name| identity::user_number(py, name)).transpose()?,
            group: group.map(|name| identity::group_number(py, name)).transpose()?,
        };
        Ok(Self { backlog: settings.backlog as i32, access })
    }

    /// Opens one.
    ///
    /// # Errors
    /// Why it cannot be opened.
    pub(crate) fn open(&self, address: &Address) -> Result<Listener, StartError> {
        match address {
            Address::Metrics(address) => {
                self.open_as("metrics", address).map(Listener::for_metrics)
            }
            _ => self.open_as("bind", address),
        }
    }

    fn open_as(&self, setting: &str, address: &Address) -> Result<Listener, StartError> {
        let opened = match address {
            Address::Unix(path) => Listener::open_unix(path, self.access, self.backlog),
            _ => resolve(address).and_then(|bind| Listener::open(&bind, self.backlog)),
        };
        opened.map_err(|error| cannot_listen(setting, address, &error))
    }
}

/// What systemd opened and nobody listens at would leave its clients waiting.
pub(crate) fn tell_of_unused(inherited: &[RawFd], addresses: &[Address]) {
    let is_used = |number: &RawFd| {
        let used = addresses.iter().filter_map(Address::descriptor);
        used.map(i64::from).any(|used| used == i64::from(*number))
    };
    for number in inherited.iter().filter(|number| !is_used(number)) {
        log::warn!(
            "the socket fd://{number} of systemd is not used, as bind says where to listen: add it there, or leave bind out"
        );
    }
}

fn resolve(address: &Address) -> io::Result<Bind> {
    Ok(match address {
        Address::Tcp { host, port } => Bind::Tcp(look_up(host, *port)?),
        Address::Unix(path) => Bind::Unix(path.clone()),
        Address::Fd(number) => Bind::Fd(i32::try_from(*number).unwrap_or(i32::MAX)),
        Address::Metrics(address) => resolve(address)?,
    })
}

/// The first address the resolver knows for `host`, as gunicorn takes it.
fn look_up(host: &str, port: u16) -> io::Result<SocketAddr> {
    let mut addresses = (host, port).to_socket_addrs()?;
    addresses.next().ok_or_else(|| io::Error::from(ErrorKind::AddrNotAvailable))
}

fn cannot_listen(setting: &str, address: &Address, error: &io::Error) -> StartError {
    let advice = match error.kind() {
        ErrorKind::AddrInUse => "Stop the process that listens there, or choose another address.",
        ErrorKind::Other if matches!(address, Address::Unix(_)) => "Check uds-mode and uds-owner.",
        ErrorKind::PermissionDenied if is_privileged(address) => {
            "Ports below 1024 need the capability CAP_NET_BIND_SERVICE: choose a higher port, or let \
             systemd or a proxy listen there."
        }
        ErrorKind::AddrNotAvailable => "Choose an address that this machine has.",
        _ => &format!("Check {setting}."),
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
