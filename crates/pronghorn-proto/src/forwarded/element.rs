//! The elements of Forwarded (RFC 7239 section 4).

use super::unquoted;
use crate::field;

/// What one proxy says of the hop before it. Values are without quotes, and not checked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Element<'a> {
    /// `for`: who made the request to the proxy.
    pub node: Option<&'a [u8]>,
    /// `proto`: the scheme it came by.
    pub scheme: Option<&'a [u8]>,
    /// `host`: the Host it had.
    pub host: Option<&'a [u8]>,
}

/// The elements of one line, the last first; `None` for a malformed one.
pub fn elements(line: &[u8]) -> impl Iterator<Item = Option<Element<'_>>> {
    let mut rest = Some(line);
    core::iter::from_fn(move || {
        let (before, last) = split_last(rest?);
        rest = before;
        Some(Element::parse(field::trim(last)))
    })
}

impl<'a> Element<'a> {
    /// Reads `name=value` pairs with semicolons between. A name that is there twice makes it malformed, as does a quote that is not
    /// closed.
    fn parse(text: &'a [u8]) -> Option<Element<'a>> {
        let mut element = Element::default();
        let mut rest = text;
        while !rest.is_empty() {
            let (pair, after) = split_pair(rest)?;
            element.take(field::trim(pair))?;
            rest = after;
        }
        Some(element)
    }

    fn take(&mut self, pair: &'a [u8]) -> Option<()> {
        if pair.is_empty() {
            return Some(());
        }
        let equals = pair.iter().position(|&byte| byte == b'=')?;
        let (name, value) = (&pair[..equals], unquoted(&pair[equals + 1..]));
        let place = match name {
            _ if name.eq_ignore_ascii_case(b"for") => &mut self.node,
            _ if name.eq_ignore_ascii_case(b"proto") => &mut self.scheme,
            _ if name.eq_ignore_ascii_case(b"host") => &mut self.host,
            _ => return field::is_token(name).then_some(()),
        };
        place.replace(value).is_none().then_some(())
    }
}

/// Cuts a line before its last element. Read from the right, so that a quote that a client left open cannot swallow what a proxy
/// wrote behind it.
fn split_last(line: &[u8]) -> (Option<&[u8]>, &[u8]) {
    let mut quoted = false;
    let mut at = line.len();
    while at > 0 {
        at -= 1;
        match line[at] {
            b'"' if quoted => {
                let slashes = line[..at].iter().rev().take_while(|&&byte| byte == b'\\').count();
                quoted = slashes % 2 == 1;
                at -= slashes;
            }
            b'"' => quoted = true,
            b',' if !quoted => return (Some(&line[..at]), &line[at + 1..]),
            _ => {}
        }
    }
    (None, line)
}

/// Cuts after the first pair. `None`: a quoted string is not closed, or stands where none may.
fn split_pair(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b';' => return Some((&text[..at], &text[at + 1..])),
            b'"' if at > 0 && text[at - 1] == b'=' => at += quoted_length(&text[at..])?,
            b'"' | b'\\' => return None,
            _ => at += 1,
        }
    }
    Some((text, &[]))
}

/// How long the quoted string at the start of `text` is, quotes included.
fn quoted_length(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    loop {
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(line: &str) -> Vec<Option<Element<'_>>> {
        elements(line.as_bytes()).collect()
    }

    fn node(text: &str) -> Option<Element<'_>> {
        Some(Element { node: Some(text.as_bytes()), ..Element::default() })
    }

    #[test]
    fn elements_come_from_the_right() {
        assert_eq!(
            all(
                "for=192.0.2.43, for=\"[2001:db8::1]:80\";proto=https;by=203.0.113.43;host=\"a:1\""
            ),
            [
                Some(Element {
                    node: Some(b"[2001:db8::1]:80"),
                    scheme: Some(b"https"),
                    host: Some(b"a:1"),
                }),
                node("192.0.2.43"),
            ]
        );
        assert_eq!(
            all("For=a;;PROTO=b ; x=\"y;z\""),
            [Some(Element { node: Some(b"a"), scheme: Some(b"b"), host: None })]
        );
        assert_eq!(all(""), [Some(Element::default())]);
        assert_eq!(all("for=a,,"), [Some(Element::default()), Some(Element::default()), node("a")]);
    }

    #[test]
    fn commas_in_quotes_are_no_separators() {
        assert_eq!(all("for=a;x=\"1,2\\\",3\""), [node("a")]);
        assert_eq!(all("for=\"a\\\\\", for=b"), [node("b"), node("a\\\\")]);
    }

    #[test]
    fn an_open_quote_swallows_nothing_behind_it() {
        for open in ["for=\"a", "for=\"a\\", "\"", "for=\"\\\"", "for=a;x=\"y, z", "for=\"a\\\\\\"]
        {
            let line = format!("{open}, for=b");
            assert_eq!(all(&line)[..2], [node("b"), None], "{line}");
        }
    }

    #[test]
    fn malformed_elements() {
        for text in [
            "192.0.2.1",
            "for",
            "for=a;for=b",
            "=a",
            "a b=c",
            "for=a\"b\"",
            "for=\\a",
            "for=\"a\"\"b\"",
            "proto=a;PROTO=a",
        ] {
            assert_eq!(all(text), [None], "{text}");
        }
    }

    #[test]
    fn long_lists_take_linear_work() {
        let commas = ",".repeat(10_000);
        assert_eq!(all(&commas).len(), 10_001);
        let quotes = "\\\"".repeat(10_000);
        assert_eq!(all(&format!("x=\"{quotes}\"")), [Some(Element::default())]);
    }
}
