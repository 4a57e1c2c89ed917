//! Who the processes that serve are: user, groups, and the permissions that files they make do not get.

use std::fmt::Display;

use pyo3::prelude::*;

use crate::app::StartError;
use crate::settings::Settings;

/// What `user`, `group` and `umask` ask for, with every name looked up.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Identity {
    user: Option<User>,
    group: Option<u32>,
    umask: Option<u32>,
}

/// A user as the system knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct User {
    number: u32,
    /// What it is called, and its group. A number needs no entry in the system's list of users.
    entry: Option<(String, u32)>,
}

impl Identity {
    /// Looks up the names. Nothing of Python is imported when none is given.
    ///
    /// # Errors
    /// A name that nobody has, a user without a group, or another user asked for by one who may not change to it.
    pub(crate) fn resolve(py: Python<'_>, settings: &Settings) -> Result<Self, StartError> {
        let user = settings.user.as_deref().map(|text| user(py, text)).transpose()?;
        let group = settings.group.as_deref().map(|text| group_number(py, text)).transpose()?;
        let identity = Self { user, group, umask: settings.umask };
        identity.check(py)?;
        Ok(identity)
    }

    /// Makes this process's user, groups and umask what is asked for, for good.
    ///
    /// # Errors
    /// The system's refusal; the process must not serve then.
    pub(crate) fn take(&self, py: Python<'_>) -> Result<(), StartError> {
        self.change(py).map_err(|error| refused(&error))
    }

    fn change(&self, py: Python<'_>) -> PyResult<()> {
        let os = py.import("os")?;
        if let Some(umask) = self.umask {
            os.call_method1("umask", (umask,))?;
        }
        if self.is_current(&os)? {
            return Ok(());
        }
        // Groups first: they cannot be changed any more once the user is.
        let group = self.group_number();
        if let Some(user) = &self.user {
            user.set_supplementary_groups(&os, group)?;
        }
        if let Some(group) = group {
            os.call_method1("setgid", (group,))?;
        }
        if let Some(user) = &self.user {
            os.call_method1("setuid", (user.number,))?;
        }
        self.verify(&os)
    }

    fn check(&self, py: Python<'_>) -> Result<(), StartError> {
        let os = py.import("os").map_err(|error| refused(&error))?;
        if let Some(user) = self.user.as_ref().filter(|_| self.group_number().is_none()) {
            return Err(StartError::new(format!(
                "the user {} has no group that the system knows. Give one with --group.",
                user.number
            )));
        }
        let may_change = effective(&os, "geteuid").map_err(|error| refused(&error))? == 0;
        if may_change || self.is_current(&os).map_err(|error| refused(&error))? {
            return Ok(());
        }
        Err(StartError::new(
            "the user or group cannot be changed. Only root may do that. Start as root, or leave out user and group.",
        ))
    }

    fn is_current(&self, os: &Bound<'_, PyModule>) -> PyResult<bool> {
        let user = self.user.as_ref().map(|user| user.number);
        Ok(is_met(user, effective(os, "geteuid")?)
            && is_met(self.group_number(), effective(os, "getegid")?))
    }

    /// The group asked for, or else the user's.
    fn group_number(&self) -> Option<u32> {
        let of_user = self.user.as_ref().and_then(|user| user.entry.as_ref()).map(|entry| entry.1);
        self.group.or(of_user)
    }

    /// No way leads back: the saved numbers have changed too.
    fn verify(&self, os: &Bound<'_, PyModule>) -> PyResult<()> {
        let users: [u32; 3] = os.call_method0("getresuid")?.extract()?;
        let groups: [u32; 3] = os.call_method0("getresgid")?.extract()?;
        let user = self.user.as_ref().map(|user| user.number);
        let changed = users.iter().all(|number| is_met(user, *number))
            && groups.iter().all(|number| is_met(self.group_number(), *number));
        match changed {
            true => Ok(()),
            false => Err(pyo3::exceptions::PyOSError::new_err("the system changed only a part")),
        }
    }
}

impl User {
    fn set_supplementary_groups(
        &self,
        os: &Bound<'_, PyModule>,
        group: Option<u32>,
    ) -> PyResult<()> {
        match &self.entry {
            Some((name, own)) => os.call_method1("initgroups", (name, group.unwrap_or(*own)))?,
            None => os.call_method1("setgroups", (group.as_slice(),))?,
        };
        Ok(())
    }
}

/// The number of the user whom `text` names.
///
/// # Errors
/// Nobody has that name.
pub(crate) fn user_number(py: Python<'_>, text: &str) -> Result<u32, StartError> {
    Ok(user(py, text)?.number)
}

/// The number of the group that `text` names.
///
/// # Errors
/// No group has that name.
pub(crate) fn group_number(py: Python<'_>, text: &str) -> Result<u32, StartError> {
    if let Some(number) = number(text) {
        return Ok(number);
    }
    let found = look_up(py, "grp", "getgrnam", text).and_then(|entry| extract(&entry, "gr_gid"));
    found.map_err(|_| unknown("group", text))
}

fn user(py: Python<'_>, text: &str) -> Result<User, StartError> {
    let number = number(text);
    let found = match number {
        Some(number) => look_up(py, "pwd", "getpwuid", number),
        None => look_up(py, "pwd", "getpwnam", text),
    };
    match (number, found) {
        (_, Ok(entry)) => entry_of(&entry).map_err(|_| unknown("user", text)),
        (Some(number), Err(_)) => Ok(User { number, entry: None }),
        (None, Err(_)) => Err(unknown("user", text)),
    }
}

fn entry_of(entry: &Bound<'_, PyAny>) -> PyResult<User> {
    let name = entry.getattr("pw_name")?.extract()?;
    let number = extract(entry, "pw_uid")?;
    Ok(User { number, entry: Some((name, extract(entry, "pw_gid")?)) })
}

/// 4294967295 is "no change" to the system.
fn number(text: &str) -> Option<u32> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|number| is_number && *number != u32::MAX)
}

fn look_up<'py>(
    py: Python<'py>,
    module: &str,
    function: &str,
    key: impl IntoPyObject<'py>,
) -> PyResult<Bound<'py, PyAny>> {
    py.import(module)?.call_method1(function, (key,))
}

fn extract(entry: &Bound<'_, PyAny>, field: &str) -> PyResult<u32> {
    entry.getattr(field)?.extract()
}

fn effective(os: &Bound<'_, PyModule>, function: &str) -> PyResult<u32> {
    os.call_method0(function)?.extract()
}

fn unknown(kind: &str, name: &str) -> StartError {
    StartError::new(format!(
        "there is no {kind} {name:?} on this system. Check {kind}, or give a number."
    ))
}

fn refused(error: &dyn Display) -> StartError {
    StartError::new(format!("the user or group cannot be changed. {error}. Check user and group."))
}

/// Whether a wish is met; no wish is.
fn is_met(wanted: Option<u32>, number: u32) -> bool {
    wanted.is_none_or(|wanted| wanted == number)
}
