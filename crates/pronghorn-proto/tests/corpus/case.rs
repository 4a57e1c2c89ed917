//! Reading the corpus; its format is described in `corpus/README.md`.

use std::fs;
use std::path::Path;

use pronghorn_proto::Version;

use crate::conversation::{Outcome, Request};

/// One case of the corpus.
pub struct Case {
    pub name: String,
    pub input: Vec<u8>,
    /// The client closes its sending side afterwards.
    pub eof: bool,
    pub expected: Expected,
}

/// The responses that must come, in order.
#[derive(Default)]
pub struct Expected(Vec<Response>);

#[derive(Clone)]
enum Response {
    Served { keep: bool, facts: Vec<Fact> },
    Refused(u16),
    Wait,
}

#[derive(Clone)]
enum Fact {
    Method(Vec<u8>),
    Path(Vec<u8>),
    PathLength(usize),
    Query(Vec<u8>),
    Host(Vec<u8>),
    Body(Vec<u8>),
    BodyLength(usize),
    Field(Vec<u8>, Vec<u8>),
    NoField(Vec<u8>),
    Version(Version),
    MayContinue(bool),
    SaysKeepAlive(bool),
}

/// Every case of every file of the corpus.
pub fn read_all() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let entries = fs::read_dir(folder).expect("the corpus is beside the crate");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("it can be listed").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    paths.sort();
    paths.iter().flat_map(|path| read(&fs::read_to_string(path).expect("text"))).collect()
}

fn read(text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix("== ") {
            let expected = Expected::default();
            cases.push(Case { name: name.into(), input: Vec::new(), eof: false, expected });
        } else {
            cases.last_mut().expect("a case begins with ==").add(line);
        }
    }
    cases
}

impl Case {
    fn add(&mut self, line: &str) {
        let (mark, text) = line.split_once(' ').unwrap_or((line, ""));
        let count =
            mark.get(1..).and_then(|rest| rest.strip_prefix('*').unwrap_or(rest).parse().ok());
        match (&mark[..1], count) {
            (">", None) => self.input.extend(unescape(text).iter().chain(b"\r\n")),
            ("+", None) => self.input.extend(unescape(text)),
            ("*", Some(count)) => self.input.extend(unescape(text).repeat(count)),
            ("e", None) if mark == "eof" => self.eof = true,
            ("<", count) => {
                let response = Response::read(text);
                self.expected.0.extend(std::iter::repeat_n(response, count.unwrap_or(1)));
            }
            _ => panic!("{}: cannot read {line:?}", self.name),
        }
    }
}

impl Expected {
    /// Compares with what a conversation came to; an error says where they part.
    pub fn check(&self, outcomes: &[Outcome], open: bool) -> Result<(), String> {
        let mut outcomes = outcomes.iter();
        let mut keep = true;
        for response in &self.0 {
            keep = match (response, outcomes.next()) {
                (Response::Wait, None) => true,
                (Response::Refused(status), Some(Outcome::Refused(e))) if e.status() == *status => {
                    false
                }
                (Response::Served { keep, facts }, Some(Outcome::Served(request)))
                    if *keep == request.persistent =>
                {
                    facts.iter().try_for_each(|fact| fact.check(request))?;
                    *keep
                }
                (_, outcome) => return Err(format!("unexpected {outcome:?}")),
            };
        }
        match outcomes.next() {
            Some(outcome) => Err(format!("one response too many: {outcome:?}")),
            None if keep != open => Err(format!("open is {open}, keep is {keep}")),
            None => Ok(()),
        }
    }
}

impl Response {
    fn read(text: &str) -> Response {
        let words: Vec<&str> = text.split(' ').collect();
        match words[..] {
            ["wait"] => Response::Wait,
            ["200", kept @ ("keep" | "close"), method, path, ref facts @ ..] => {
                let mut facts: Vec<Fact> = facts.iter().copied().filter_map(Fact::read).collect();
                facts.push(Fact::Method(unescape(method)));
                facts.extend((path != "-").then(|| Fact::Path(unescape(path))));
                facts.push(Fact::MayContinue(words.contains(&"may-continue")));
                facts.push(Fact::SaysKeepAlive(words.contains(&"says-keep-alive")));
                Response::Served { keep: kept == "keep", facts }
            }
            [status, "close"] => Response::Refused(status.parse().expect("a status")),
            _ => panic!("cannot read the response {text:?}"),
        }
    }
}

impl Fact {
    /// The fact `word` names; `None` for those whose absence says something too.
    fn read(word: &str) -> Option<Fact> {
        let (key, value) = word.split_once('=').unwrap_or((word, ""));
        Some(match key.split_once(':').unwrap_or((key, "")) {
            ("may-continue" | "says-keep-alive" | "", _) => return None,
            ("path-length", _) => Fact::PathLength(value.parse().expect("a length")),
            ("query", _) => Fact::Query(unescape(value)),
            ("host", _) => Fact::Host(unescape(value)),
            ("body", _) => Fact::Body(unescape(value)),
            ("body-length", _) => Fact::BodyLength(value.parse().expect("a length")),
            ("field", name) => Fact::Field(name.into(), unescape(value)),
            ("no-field", name) => Fact::NoField(name.into()),
            ("version", _) if value == "1.0" => Fact::Version(Version::Http10),
            ("version", _) if value == "1.1" => Fact::Version(Version::Http11),
            _ => panic!("cannot read the fact {word:?}"),
        })
    }

    fn check(&self, request: &Request) -> Result<(), String> {
        let field = |name| request.fields.iter().find(|(n, _)| n == name).map(|(_, value)| value);
        let holds = match self {
            Fact::Method(method) => *method == request.method,
            Fact::Path(path) => *path == request.path,
            Fact::PathLength(length) => *length == request.path.len(),
            Fact::Query(query) => request.query.as_ref() == Some(query),
            Fact::Host(host) => request.host.as_ref() == Some(host),
            Fact::Body(body) => *body == request.body,
            Fact::BodyLength(length) => *length == request.body.len(),
            Fact::Field(name, value) => field(name) == Some(value),
            Fact::NoField(name) => field(name).is_none(),
            Fact::Version(version) => *version == request.version,
            Fact::MayContinue(may) => *may == request.expect_continue,
            Fact::SaysKeepAlive(says) => *says == request.keep_alive_requested,
        };
        if holds { Ok(()) } else { Err(format!("unexpected {request:?}")) }
    }
}

fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match (byte, if byte == b'\\' { rest.next() } else { None }) {
            (b'\\', Some(b'r')) => b'\r',
            (b'\\', Some(b'n')) => b'\n',
            (b'\\', Some(b't')) => b'\t',
            (b'\\', Some(b's')) => b' ',
            (b'\\', Some(b'\\')) => b'\\',
            (b'\\', Some(b'x')) => hex_byte(&mut rest).expect("two digits follow \\x"),
            (b'\\', _) => panic!("unknown escape in {text:?}"),
            (byte, _) => byte,
        });
    }
    bytes
}

fn hex_byte(digits: &mut impl Iterator<Item = u8>) -> Option<u8> {
    let digits = [digits.next()?, digits.next()?];
    u8::from_str_radix(str::from_utf8(&digits).ok()?, 16).ok()
}
