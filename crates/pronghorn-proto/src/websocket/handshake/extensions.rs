//! The grammar of Sec-WebSocket-Extensions (RFC 6455 section 9.1).

use crate::error::Error;
use crate::field;
use crate::websocket::deflate::Param;

/// An extension that a client offers.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Extension<'a> {
    pub(super) name: &'a [u8],
    pub(super) params: Vec<Param<'a>>,
}

/// The extensions in the `value` of one field line, in order of preference. A value in quotes is
/// given without them; none that has a meaning needs an escape, so those are left in.
pub(super) fn parse(value: &[u8]) -> Result<Vec<Extension<'_>>, Error> {
    let mut scanner = Scanner { rest: field::trim(value) };
    let mut extensions = Vec::new();
    while !scanner.rest.is_empty() {
        if !scanner.eat(b',') {
            extensions.push(scanner.extension()?);
            if !scanner.rest.is_empty() && !scanner.eat(b',') {
                return Err(Error::WebSocketExtensions);
            }
        }
    }
    Ok(extensions)
}

/// Reads from the front. Between two reads, white space is left out.
struct Scanner<'a> {
    rest: &'a [u8],
}

impl<'a> Scanner<'a> {
    fn extension(&mut self) -> Result<Extension<'a>, Error> {
        let name = self.token()?;
        let mut params = Vec::new();
        while self.eat(b';') {
            let name = self.token()?;
            let value = if self.eat(b'=') { Some(self.value()?) } else { None };
            params.push((name, value));
        }
        Ok(Extension { name, params })
    }

    fn value(&mut self) -> Result<&'a [u8], Error> {
        if !self.eat_exactly(b'"') {
            return self.token();
        }
        let mut escaped = false;
        let end = self.rest.iter().position(|&byte| {
            let end = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            end
        });
        let value = self.take(end.ok_or(Error::WebSocketExtensions)?);
        self.eat(b'"');
        Ok(value)
    }

    fn token(&mut self) -> Result<&'a [u8], Error> {
        let token = self.rest.iter().take_while(|&&byte| field::is_token_byte(byte)).count();
        let token = self.take(token);
        self.skip_space();
        if token.is_empty() { Err(Error::WebSocketExtensions) } else { Ok(token) }
    }

    fn eat(&mut self, byte: u8) -> bool {
        let eaten = self.eat_exactly(byte);
        self.skip_space();
        eaten
    }

    fn eat_exactly(&mut self, byte: u8) -> bool {
        let next = self.rest.first() == Some(&byte);
        self.take(usize::from(next));
        next
    }

    fn skip_space(&mut self) {
        self.rest = field::trim(self.rest);
    }

    fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(count);
        self.rest = rest;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The extensions as text: `name;param=value` with spaces between them.
    fn parsed(value: &str) -> Option<String> {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let extensions = parse(value.as_bytes()).ok()?.into_iter().map(|extension| {
            let params = extension.params.iter().map(|(name, value)| {
                let value = value.map(|value| format!("={}", text(value)));
                format!(";{}{}", text(name), value.unwrap_or_default())
            });
            text(extension.name) + &params.collect::<String>()
        });
        Some(extensions.collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn lists_are_read() {
        let table = [
            ("", ""),
            ("a", "a"),
            (" a , b ", "a b"),
            (",, a ,,b,", "a b"),
            ("a; b; c=1", "a;b;c=1"),
            ("a;b=\"10\" ; c,d", "a;b=10;c d"),
            ("a; b = \"x, y; \\\" z\" ,\td", "a;b=x, y; \\\" z d"),
        ];
        for (value, expected) in table {
            assert_eq!(parsed(value).as_deref(), Some(expected), "{value}");
        }
    }

    #[test]
    fn what_is_no_list_is_refused() {
        for value in ["a b", "a;", "a;;b", "a;=1", "a;b=", "=", "a/b", "a;b=\"c", "a;b=c d", "é"] {
            assert_eq!(parsed(value), None, "{value}");
        }
    }
}
