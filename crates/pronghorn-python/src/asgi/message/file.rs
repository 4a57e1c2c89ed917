//! Files in messages: by their path, or by a descriptor.

use std::{
    ffi::OsString,
    fs::{File, OpenOptions},
    io::{self, Seek, SeekFrom},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use pyo3::{
    exceptions::{PyOSError, PyValueError},
    intern,
    prelude::*,
    types::PyInt,
};
use rustix::fs::OFlags;

use super::Message;
use crate::raw::duplicate;

/// The part of a file that a message is about.
pub(in crate::asgi) struct FilePart {
    pub(in crate::asgi) file: File,
    pub(in crate::asgi) offset: u64,
    pub(in crate::asgi) length: u64,
}

impl Message<'_, '_> {
    /// All of the file that `http.response.pathsend` names.
    ///
    /// # Errors
    /// `OSError` when it cannot be opened; `TypeError` or `ValueError`.
    pub(in crate::asgi) fn path_part(&self) -> PyResult<FilePart> {
        let path = self.string(self.needed(&self.words.path, "path")?, "path")?;
        let path = PathBuf::from(path.extract::<OsString>()?);
        if !path.is_absolute() {
            return Err(
                self.invalid("path", format_args!("must be absolute, not {}", path.display()))
            );
        }
        let file = open(&path).map_err(|error| not_opened(&error, path))?;
        let length = self.length_of(&file)?;
        Ok(FilePart { file, offset: 0, length })
    }

    /// What `http.response.zerocopysend` asks for. Without an offset it is read from where the file is, which moves on.
    ///
    /// # Errors
    /// `OSError` when the descriptor is none; `TypeError` or `ValueError`.
    pub(in crate::asgi) fn file_part(&self) -> PyResult<FilePart> {
        let given = self.needed(&self.words.file, "file")?;
        let descriptor = match given.is_instance_of::<PyInt>() {
            true => self.integer(&given, "file")?,
            false => match given.getattr_opt(intern!(given.py(), "fileno"))? {
                Some(fileno) => fileno.call0()?.extract()?,
                None => return Err(self.wrong(&given, "file", "a file with a descriptor")),
            },
        };
        let descriptor = i32::try_from(descriptor).unwrap_or(-1);
        let mut file = duplicate(descriptor)?;
        let (whole, most) = (self.length_of(&file)?, self.natural("count")?);
        let given = self.natural("offset")?;
        let offset = given.map_or_else(|| file.stream_position(), Ok)?;
        let rest = whole.saturating_sub(offset);
        let length = most.map_or(rest, |most| most.min(rest));
        if given.is_none() {
            file.seek(SeekFrom::Start(offset + length))?;
        }
        Ok(FilePart { file, offset, length })
    }

    /// A number of bytes that may be left out.
    fn natural(&self, part: &str) -> PyResult<Option<u64>> {
        let key = if part == "count" { &self.words.count } else { &self.words.offset };
        let Some(number) = self.given(key)? else { return Ok(None) };
        let number = self.integer(&number, part)?;
        u64::try_from(number).map(Some).map_err(|_| self.invalid(part, "must not be negative"))
    }

    fn length_of(&self, file: &File) -> PyResult<u64> {
        let metadata = file.metadata()?;
        match metadata.is_file() {
            true => Ok(metadata.len()),
            false => Err(PyValueError::new_err(format!("{} takes regular files only", self.name))),
        }
    }
}

/// Opens a file to read it, without waiting for who writes to a FIFO.
fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

/// The error that `open` of Python raises.
#[cold]
fn not_opened(error: &io::Error, path: PathBuf) -> PyErr {
    match error.raw_os_error() {
        Some(code) => PyOSError::new_err((code, error.to_string(), path.into_os_string())),
        None => PyValueError::new_err(error.to_string()),
    }
}
