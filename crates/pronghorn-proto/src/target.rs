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
    let (end, mark) = scan(buf, range.start);
    match (raw, method) {
        _ if end != range.end => Err(Error::Target),
        (_, Method::Connect) => authority_form(raw, range),
        ([b'/', ..], _) => {
            let path = range.start;
            Ok((with_path(Form::Origin, range, path, mark), None))
        }
        ([b'*'], Method::Options) => {
            let path = range.end;
            Ok((with_path(Form::Asterisk, range, path, None), None))
        }
        _ => absolute_form(raw, range, mark),
    }
}

/// The position of the first byte from `at` on that a target cannot have, white space or `#`, and
/// of the first `?` before it.
fn scan(buf: &[u8], mut at: usize) -> (usize, Option<usize>) {
    let mut mark = None;
    loop {
        let word = word::load(&buf[at..]);
        let flags = word::below(word, b'!') | word::equal(word, b'#') | word::equal(word, b'?');
        at += word::first(flags);
        if flags == 0 {
            continue;
        }
        if buf.get(at) != Some(&b'?') {
            return (at, mark);
        }
        mark = mark.or(Some(at));
        at += 1;
    }
}

/// `uri-host ":" port`, the port required (section 3.2.3).
fn authority_form(raw: &[u8], range: Range<usize>) -> Result<(Target, Option<Span>), Error> {
    host::check(raw).map_err(|_| Error::Target)?;
    match host::split(raw) {
        ([_, ..], Some([_, ..])) => {
            let (path, authority) = (range.end, Span::new(range.clone()));
            Ok((with_path(Form::Authority, range, path, None), Some(authority)))
        }
        _ => Err(Error::Target),
    }
}

/// `scheme "://" authority path-abempty [ "?" query ]` of http or https, whose host may not be
/// empty (RFC 9110 section 4.2).
fn absolute_form(
    raw: &[u8],
    range: Range<usize>,
    mark: Option<usize>,
) -> Result<(Target, Option<Span>), Error> {
    let start = authority_start(raw).ok_or(Error::Target)?;
    let after = &raw[start..];
    let end = start + memchr::memchr2(b'/', b'?', after).unwrap_or(after.len());
    let authority = &raw[start..end];
    host::check(authority)?;
    if host::split(authority).0.is_empty() {
        return Err(Error::HostMalformed);
    }
    let path = range.start + end;
    let authority = Span::new(range.start + start..path);
    Ok((with_path(Form::Absolute, range, path, mark), Some(authority)))
}

/// The offset after `http://` or `https://`. Schemes are case-insensitive (RFC 3986 section 3.1).
fn authority_start(raw: &[u8]) -> Option<usize> {
    [&b"http://"[..], b"https://"]
        .into_iter()
        .find(|prefix| raw.get(..prefix.len()).is_some_and(|p| p.eq_ignore_ascii_case(prefix)))
        .map(|prefix| prefix.len())
}

/// The target at `range` whose path begins at `path` and ends before the `mark` of a query.
fn with_path(form: Form, range: Range<usize>, path: usize, mark: Option<usize>) -> Target {
    let path = Span::new(path..mark.unwrap_or(range.end));
    let query = mark.map(|mark| Span::new(mark + 1..range.end));
    Target { form, raw: Span::new(range), path, query }
}
