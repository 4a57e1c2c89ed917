//! What a line says, as it is configured: read once, when the server starts.

use std::fmt;

use super::atom::{Atom, FieldName};
use super::variable::Variable;
use super::{Entry, Process, json};

/// The format of the access log's lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Format(Layout);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Layout {
    Json,
    Text(Vec<Part>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(Box<[u8]>),
    Atom(Atom),
}

/// Why a text is no format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatError(String);

impl Format {
    /// Reads `common`, `combined`, `json`, or a text with gunicorn's atoms, such as `%(h)s "%(r)s" %({x-request-id}i)s`.
    ///
    /// # Errors
    /// An atom that does not exist, a `%` that begins none, or a line break.
    pub fn parse(text: &str) -> Result<Format, FormatError> {
        let text = match text {
            "json" => return Ok(Format(Layout::Json)),
            "common" => COMMON,
            "combined" => COMBINED,
            text => text,
        };
        // Who writes a single word without an atom means a name.
        if !text.contains('%') {
            return Err(FormatError(format!(
                "{text:?} has no atom. Write common, combined, json, or atoms such as %(h)s"
            )));
        }
        if text.contains(['\n', '\r']) {
            return Err(FormatError("a line of the log has no line break in it".to_owned()));
        }
        parts(text).map(|parts| Format(Layout::Text(parts)))
    }

    /// Whether a line says how long a request took.
    pub(super) fn is_timed(&self) -> bool {
        match &self.0 {
            Layout::Json => true,
            Layout::Text(parts) => {
                parts.iter().any(|part| matches!(part, Part::Atom(atom) if atom.is_timed()))
            }
        }
    }

    /// Appends the line of `entry`, without its end, as `process` writes it.
    pub(super) fn append(&self, out: &mut Vec<u8>, entry: &Entry<'_>, process: &Process) {
        match &self.0 {
            Layout::Json => json::append(out, entry, process),
            Layout::Text(parts) => {
                for part in parts {
                    match part {
                        Part::Literal(text) => out.extend_from_slice(text),
                        Part::Atom(atom) => atom.append(out, entry, process),
                    }
                }
            }
        }
    }
}

fn parts(text: &str) -> Result<Vec<Part>, FormatError> {
    let mut parts = Vec::new();
    let mut literal = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        literal.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            literal.push('%');
            rest = after;
            continue;
        }
        let (name, after) = atom_text(rest)?;
        push_literal(&mut parts, &mut literal);
        parts.push(Part::Atom(atom(name)?));
        rest = after;
    }
    literal.push_str(rest);
    push_literal(&mut parts, &mut literal);
    Ok(parts)
}

fn push_literal(parts: &mut Vec<Part>, literal: &mut String) {
    if !literal.is_empty() {
        parts.push(Part::Literal(std::mem::take(literal).into_bytes().into()));
    }
}

/// What is between the parentheses of `(name)s`, and what follows.
fn atom_text(rest: &str) -> Result<(&str, &str), FormatError> {
    let is_name = rest.strip_prefix('(').and_then(|inner| inner.split_once(')'));
    let (name, after) = is_name.ok_or_else(|| {
        let shown: String = rest.chars().take(8).collect();
        FormatError(format!(
            "\"%{shown}\" begins no atom. Write %(h)s for an atom, and %% for a percent sign"
        ))
    })?;
    // gunicorn's formats are Python's: numbers may be asked for as such.
    match after.strip_prefix(['s', 'd']) {
        Some(after) => Ok((name, after)),
        None => Err(FormatError(format!("%({name}) lacks its s. Write %({name})s"))),
    }
}

fn atom(name: &str) -> Result<Atom, FormatError> {
    let of_name = name.strip_prefix('{').and_then(|inner| inner.rsplit_once('}'));
    match of_name {
        Some((field, "i")) => Ok(Atom::Field(FieldName::new(field))),
        Some((field, "o")) => Ok(Atom::ResponseField(FieldName::new(field))),
        Some((variable, "e")) => Ok(Atom::Variable(Variable::named(variable))),
        _ => Atom::named(name).ok_or_else(|| {
            FormatError(format!(
                "%({name})s is no atom. There are h l u t r m U q H s b B f a T M D L p, {{field}}i, \
                 {{field}}o and {{variable}}e"
            ))
        }),
    }
}

const COMMON: &str = r#"%(h)s %(l)s %(u)s %(t)s "%(r)s" %(s)s %(b)s"#;
const COMBINED: &str = r#"%(h)s %(l)s %(u)s %(t)s "%(r)s" %(s)s %(b)s "%(f)s" "%(a)s""#;

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for FormatError {}

#[cfg(test)]
mod tests;
