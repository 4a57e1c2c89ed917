//! What APP takes.

/// Where the application is: `module:attribute`, `module:factory()` or `module`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppSpec {
    /// The dotted name of the module to import.
    pub module: String,
    /// The dotted path of the attribute in it; `application` or `app` when none was named.
    pub attribute: Option<String>,
    /// Whether the attribute is a factory: called without arguments, it gives the application.
    pub factory: bool,
}

impl AppSpec {
    /// Reads `module`, `module:attribute`, `module:object.attribute` or `module:factory()`.
    ///
    /// # Errors
    /// Says what is wrong with the text and what to write.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (module, attribute) = match text.split_once(':') {
            Some((module, attribute)) => (module, Some(attribute)),
            None => (text, None),
        };
        if module.ends_with(".py") || module.contains('/') {
            return Err(file_name(module, attribute));
        }
        let (attribute, factory) = match attribute.and_then(|name| name.strip_suffix("()")) {
            Some(name) => (Some(name), true),
            None => (attribute, false),
        };
        check(module, attribute)?;
        Ok(Self { module: module.to_owned(), attribute: attribute.map(str::to_owned), factory })
    }
}

fn check(module: &str, attribute: Option<&str>) -> Result<(), String> {
    match attribute {
        Some(name) if name.contains('(') => {
            Err("a factory is called without arguments: write MODULE:FACTORY()".to_owned())
        }
        Some(name) if !is_dotted_name(name) => Err(EXPECTED.to_owned()),
        _ if !is_dotted_name(module) => Err(EXPECTED.to_owned()),
        _ => Ok(()),
    }
}

/// A path was typed where Python takes a module's name.
fn file_name(path: &str, attribute: Option<&str>) -> String {
    let stem = path.trim_end_matches(".py").trim_end_matches('/');
    let may_have_attribute = attribute.is_none() && !path.ends_with(".py") && !path.ends_with('/');
    let suffix = attribute.map(|name| format!(":{name}")).unwrap_or_default();
    match stem.rsplit_once('/') {
        Some((folder, name)) if stem.starts_with(['/', '.']) => {
            format!("expected a module, not a path: write --app-dir {folder} {name}{suffix}")
        }
        Some((folder, name)) if may_have_attribute => {
            let module = folder.replace('/', ".");
            format!(
                "expected a module, not a path: write {module}:{name}, or {module}.{name} if {name} is a module"
            )
        }
        _ => format!("expected a module, not a path: write {}{suffix}", stem.replace('/', ".")),
    }
}

fn is_dotted_name(text: &str) -> bool {
    text.split('.').all(is_identifier)
}

/// Near enough to Python's rule for a message; the import decides.
fn is_identifier(name: &str) -> bool {
    !name.starts_with(|c: char| c.is_ascii_digit())
        && !name.is_empty()
        && name.chars().all(|c| c.is_alphanumeric() || c == '_')
}

const EXPECTED: &str = "expected MODULE:ATTRIBUTE, such as wiki:application";

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(module: &str, attribute: Option<&str>, factory: bool) -> AppSpec {
        AppSpec { module: module.to_owned(), attribute: attribute.map(str::to_owned), factory }
    }

    #[test]
    fn every_form() {
        for (text, expected) in [
            ("wiki", spec("wiki", None, false)),
            ("wiki:app", spec("wiki", Some("app"), false)),
            ("a.b.c:x.y", spec("a.b.c", Some("x.y"), false)),
            ("wiki:create_app()", spec("wiki", Some("create_app"), true)),
            ("größe:app", spec("größe", Some("app"), false)),
        ] {
            assert_eq!(AppSpec::parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn mistakes_say_what_to_write() {
        for (text, reason) in [
            ("", EXPECTED),
            (":app", EXPECTED),
            ("wiki:", EXPECTED),
            ("wiki:()", EXPECTED),
            ("wiki..x:app", EXPECTED),
            ("my-wiki:app", EXPECTED),
            ("wiki:app:x", EXPECTED),
            ("wiki:make(1)", "a factory is called without arguments: write MODULE:FACTORY()"),
            ("wiki.py:app", "expected a module, not a path: write wiki:app"),
            ("site/wiki.py", "expected a module, not a path: write site.wiki"),
            ("site/wiki:app", "expected a module, not a path: write site.wiki:app"),
            (
                "site/wiki",
                "expected a module, not a path: write site:wiki, or site.wiki if wiki is a module",
            ),
            ("./wiki.py:app", "expected a module, not a path: write --app-dir . wiki:app"),
            (
                "/srv/x/wiki.py:app",
                "expected a module, not a path: write --app-dir /srv/x wiki:app",
            ),
        ] {
            assert_eq!(AppSpec::parse(text), Err(reason.to_owned()), "{text}");
        }
    }
}
