//! The request target and its four forms (RFC 9112 section 3.2).

use core::ops::Range;

use crate::error::Error;
use crate::head::Method;
use crate::host;
use crate::span::Span;
use crate::word;

/// Which form a request target has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// `/path?query`.
    #[default]
    Origin,
    /// `http://host/path?query`.
    Absolute,
    /// `host:port`, for CONNECT.
    Authority,
    /// `*`, for OPTIONS.
    Asterisk,
}

/// A request target, as offsets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Target {
    /// Its form.
    pub form: Form,
    /// The whole of it, as sent.
    pub raw: Span,
    /// The path, not percent-decoded. Empty for the forms without one, and for an absolute URI
    /// that stops after its authority (which means `/`).
    pub path: Span,
    /// What follows the first `?`; `None` without one.
    pub query: Option<Span>,
}

/// Reads the target at `range` of `buf`, which a space follows, and the authority if its form has
/// one. The line it is in is free of control bytes other than tabs.
///
/// Every visible byte is let through in a path, as browsers send more than RFC 3986 allows; a
/// fragment is not, since readers differ on where it ends.
pub(crate) fn parse(
    buf: &[u8],
    range: Range<usize>,
    method: Method,
) -> Result<(Target, Option<Span>), Error> {
    let raw = &buf[range.clone()];
    match (raw, method) {
        _ if end(buf, range.start) != range.end => Err(Error::Target),
        (_, Method::Connect) => authority_form(raw, range),
        ([b'/', ..], _) => Ok((with_path(Form::Origin, raw, range, 0), None)),
        ([b'*'], Method::Options) => {
            let path = range.end..range.end;
            let raw = Span::new(range);
            Ok((Target { form: Form::Asterisk, raw, path: Span::new(path), query: None }, None))
        }
        _ => absolute_form(raw, range),
    }
}

/// The position of the first byte from `at` on that a target cannot have: white space or `#`.
fn end(buf: &[u8], mut at: usize) -> usize {
    loop {
        let word = word::load(buf, at);
        let flags = word::below(word, b'!') | word::equal(word, b'#');
        at += word::first(flags);
        if flags != 0 {
            return at;
        }
    }
}

/// `uri-host ":" port`, the port required (section 3.2.3).
fn authority_form(raw: &[u8], range: Range<usize>) -> Result<(Target, Option<Span>), Error> {
    host::check(raw).map_err(|_| Error::Target)?;
    match host::split(raw) {
        ([_, ..], Some([_, ..])) => {
            let path = Span::new(range.end..range.end);
            let raw = Span::new(range);
            Ok((Target { form: Form::Authority, raw, path, query: None }, Some(raw)))
        }
        _ => Err(Error::Target),
    }
}

/// `scheme "://" authority path-abempty [ "?" query ]` of http or https, whose host may not be
/// empty (RFC 9110 section 4.2).
fn absolute_form(raw: &[u8], range: Range<usize>) -> Result<(Target, Option<Span>), Error> {
    let start = authority_start(raw).ok_or(Error::Target)?;
    let after = &raw[start..];
    let end = start + memchr::memchr2(b'/', b'?', after).unwrap_or(after.len());
    let authority = &raw[start..end];
    host::check(authority)?;
    if host::split(authority).0.is_empty() {
        return Err(Error::HostMalformed);
    }
    let authority = Span::new(range.start + start..range.start + end);
    Ok((with_path(Form::Absolute, raw, range, end), Some(authority)))
}

/// The offset after `http://` or `https://`. Schemes are case-insensitive (RFC 3986 section 3.1).
fn authority_start(raw: &[u8]) -> Option<usize> {
    [&b"http://"[..], b"https://"]
        .into_iter()
        .find(|prefix| raw.get(..prefix.len()).is_some_and(|p| p.eq_ignore_ascii_case(prefix)))
        .map(|prefix| prefix.len())
}

/// A target whose path begins `path` bytes into `raw`.
fn with_path(form: Form, raw: &[u8], range: Range<usize>, path: usize) -> Target {
    let mark = word::position(&raw[path..], b'?').map(|at| range.start + path + at);
    let path = range.start + path..mark.unwrap_or(range.end);
    let query = mark.map(|mark| Span::new(mark + 1..range.end));
    Target { form, raw: Span::new(range), path: Span::new(path), query }
}
