//! What proxies say of a request that they pass on, in X-Forwarded-* and in Forwarded (RFC 7239). Whether a proxy is to be believed
//! is for others to say.
//!
//! A list is read from its right, where the nearest proxy has written: what a client sent stands to the left of that, and cannot
//! change how it is read.

mod element;
mod node;

pub use element::{Element, elements};
pub use node::Node;

use crate::charset::{self, Charset};
use crate::field;

/// The scheme a client used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// Without TLS.
    Http,
    /// With TLS.
    Https,
}

impl Scheme {
    /// Reads a scheme in either case; `None` for any other than these two.
    pub fn parse(text: &[u8]) -> Option<Scheme> {
        match text {
            _ if text.eq_ignore_ascii_case(b"http") => Some(Scheme::Http),
            _ if text.eq_ignore_ascii_case(b"https") => Some(Scheme::Https),
            _ => None,
        }
    }
}

/// The members of a comma-separated line, the last first, without white space and quotes around them.
pub fn members(line: &[u8]) -> impl Iterator<Item = &[u8]> {
    line.rsplit(|&byte| byte == b',').map(|member| unquoted(field::trim(member)))
}

/// Whether a field of this name, in any case, is one of X-Forwarded-*.
pub fn is_x_forwarded(name: &[u8]) -> bool {
    name.get(..PREFIX.len()).is_some_and(|start| start.eq_ignore_ascii_case(PREFIX))
}

/// A port number; `None` for 0 and for what is none.
pub fn port(text: &[u8]) -> Option<u16> {
    let text = str::from_utf8(text).ok()?;
    text.bytes().all(|byte| byte.is_ascii_digit()).then_some(())?;
    text.parse().ok().filter(|port| *port > 0)
}

/// The path an application is mounted at, without a slash at its end; `None` for what is no plain absolute path: with an empty
/// segment, `.` or `..`, percent-encoding, or anything that ends a path.
pub fn mount_point(path: &[u8]) -> Option<&[u8]> {
    let path = path.strip_suffix(b"/").unwrap_or(path);
    let mut segments = path.split(|&byte| byte == b'/');
    let is_absolute = segments.next() == Some(b"");
    let is_plain = |segment: &[u8]| {
        !matches!(segment, b"" | b"." | b"..")
            && segment.iter().all(|&byte| SEGMENT_BYTES[byte as usize])
    };
    (is_absolute && segments.all(is_plain)).then_some(path)
}

/// What stands between quotes; text without them as it is.
fn unquoted(text: &[u8]) -> &[u8] {
    match text {
        [b'"', inner @ .., b'"'] => inner,
        _ => text,
    }
}

const PREFIX: &[u8] = b"x-forwarded-";

/// `pchar` of RFC 3986 section 3.3 without percent-encoding and without the comma, which separates members.
static SEGMENT_BYTES: Charset = charset::alphanumeric_and(b"-._~!$&'()*+;=:@");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_from_the_right() {
        let list: Vec<&[u8]> = members(b" a ,\"b\",,c\t").collect();
        assert_eq!(list, [&b"c"[..], b"", b"b", b"a"]);
        assert_eq!(members(b"").collect::<Vec<_>>(), [b""]);
    }

    #[test]
    fn names_of_the_family() {
        for name in ["x-forwarded-for", "X-Forwarded-User", "X-FORWARDED-"] {
            assert!(is_x_forwarded(name.as_bytes()), "{name}");
        }
        for name in ["x-forwarded", "forwarded", "x_forwarded_for", "xx-forwarded-for"] {
            assert!(!is_x_forwarded(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn schemes_are_two() {
        assert_eq!(Scheme::parse(b"HTTPS"), Some(Scheme::Https));
        assert_eq!(Scheme::parse(b"http"), Some(Scheme::Http));
        for text in ["", "https ", "httpss", "wss", "https, http", "javascript"] {
            assert_eq!(Scheme::parse(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn ports_are_plain_numbers() {
        assert_eq!(port(b"443"), Some(443));
        for text in ["", "0", "+80", "-1", "65536", "8 0", "80,80", "http", "٣"] {
            assert_eq!(port(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_mount_point_is_a_plain_path() {
        for (text, path) in [("/api", "/api"), ("/a/b/", "/a/b"), ("/", ""), ("/~u:1@x", "/~u:1@x")]
        {
            assert_eq!(mount_point(text.as_bytes()), Some(path.as_bytes()), "{text}");
        }
        let bad = [
            "api",
            "//evil",
            "/a//b",
            "/a/../b",
            "/..",
            "/.",
            "/a%2fb",
            "/a?b",
            "/a#b",
            "/a b",
            "/a\\b",
            "/a//",
            "/a,/b",
            "/caf\u{e9}",
            "http://evil/",
        ];
        for text in bad {
            assert_eq!(mount_point(text.as_bytes()), None, "{text}");
        }
    }
}
