//! Where an application is mounted.

use pronghorn_proto::forwarded::mount_point;

use super::kind::Single;

/// The path an application is mounted at.
pub struct RootPath;

impl Single for RootPath {
    /// Without a slash at its end: the root is empty.
    type Out = String;

    fn expects() -> String {
        "a plain path such as /shop".to_owned()
    }

    fn parse(text: &str) -> Result<String, String> {
        match mount_point(text.as_bytes()) {
            Some(path) => Ok(text[..path.len()].to_owned()),
            None => Err(format!("expected {}, without // and %", Self::expects())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slash_at_the_end_is_none() {
        for (text, path) in
            [("/shop", "/shop"), ("/shop/", "/shop"), ("/a/b", "/a/b"), ("/", ""), ("", "")]
        {
            assert_eq!(RootPath::parse(text), Ok(path.to_owned()), "{text}");
        }
    }

    #[test]
    fn it_is_a_plain_path() {
        for text in ["shop", "http://host/shop", "//shop", "/a?b", "/a%20b", "/\u{e9}"] {
            let reason = "expected a plain path such as /shop, without // and %".to_owned();
            assert_eq!(RootPath::parse(text), Err(reason), "{text}");
        }
    }
}
