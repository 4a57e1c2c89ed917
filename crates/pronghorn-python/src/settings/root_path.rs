//! Where an application is mounted.

use super::kind::Single;
use super::own::UrlPath;

/// The path an application is mounted at, as applications see it: nothing in it is escaped.
pub struct RootPath;

impl Single for RootPath {
    /// Without a slash at its end: the root is empty.
    type Out = String;

    fn expects() -> String {
        "a path such as /shop".to_owned()
    }

    fn parse(text: &str) -> Result<String, String> {
        match UrlPath::parse(text) {
            Ok(path) if !path.contains('%') => Ok(path.trim_end_matches('/').to_owned()),
            _ => Err(format!("expected {}, without ?, # and %", Self::expects())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slash_at_the_end_is_none() {
        for (text, path) in [("/shop", "/shop"), ("/shop/", "/shop"), ("/a/b", "/a/b"), ("/", "")] {
            assert_eq!(RootPath::parse(text), Ok(path.to_owned()), "{text}");
        }
    }

    #[test]
    fn it_is_a_plain_path() {
        for text in ["", "shop", "http://host/shop", "/a?b", "/a%20b", "/a b", "/\u{e9}"] {
            let reason = "expected a path such as /shop, without ?, # and %".to_owned();
            assert_eq!(RootPath::parse(text), Err(reason), "{text}");
        }
    }
}
