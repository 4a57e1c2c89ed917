//! The descriptor behind a Python file.

use std::{fs::File, io, os::fd::BorrowedFd};

/// A second descriptor for what `fd` refers to, so that it stays open whatever the application does with its own.
///
/// # Errors
/// Those of `dup`: the application closed it, or there is no descriptor left.
pub(crate) fn duplicate(fd: i32) -> io::Result<File> {
    if fd < 0 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: not -1, and borrowed for one system call. Should another thread close it meanwhile, the call fails or
    // duplicates what took its number: what any use of `fileno()` risks.
    Ok(unsafe { BorrowedFd::borrow_raw(fd) }.try_clone_to_owned()?.into())
}
