//! An owner as people write it: USER, USER:GROUP or :GROUP.

use super::kind::Single;

/// Whom a file is to belong to. Names are not looked up yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// The name or number of the user; none leaves it as it is.
    pub user: Option<String>,
    /// The name or number of the group; none leaves it as it is.
    pub group: Option<String>,
}

impl Single for Owner {
    type Out = Owner;

    fn expects() -> String {
        "USER, USER:GROUP or :GROUP, by name or number".to_owned()
    }

    fn parse(text: &str) -> Result<Owner, String> {
        let (user, group) = match text.split_once(':') {
            Some((user, group)) if !group.is_empty() => (user, Some(group)),
            None => (text, None),
            Some(_) => ("", None),
        };
        let owner = Owner {
            user: (!user.is_empty()).then(|| user.to_owned()),
            group: group.map(str::to_owned),
        };
        match owner.user.is_some() || owner.group.is_some() {
            true => Ok(owner),
            false => Err(format!("expected {}", Self::expects())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_group_or_both() {
        for (text, user, group) in [
            ("www-data", Some("www-data"), None),
            ("www-data:web", Some("www-data"), Some("web")),
            (":web", None, Some("web")),
            ("33:33", Some("33"), Some("33")),
        ] {
            let owner = Owner { user: user.map(Into::into), group: group.map(Into::into) };
            assert_eq!(Owner::parse(text), Ok(owner), "{text}");
        }
        for text in ["", ":", "www-data:"] {
            assert!(Owner::parse(text).is_err(), "{text}");
        }
    }
}
