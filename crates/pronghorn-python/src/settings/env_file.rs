//! The environment file: `NAME=value` lines.
//!
//! Strict on purpose: what cannot be read is an error with its line, and nothing is expanded, so that a password
//! with a `$` stays what it is.

/// One variable and the line it stands on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) number: usize,
}

/// Reads `NAME=value`, `export NAME=value`, `'literal'` and `"with \n escapes"` values; `#` starts a comment at
/// the start of a line or after white space.
///
/// # Errors
/// The number of the line that is none of these, and what is wrong with it.
pub(super) fn read(text: &str) -> Result<Vec<Line>, (usize, &'static str)> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    lines
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(number, line)| parse(line, number).map_err(|reason| (number, reason)))
        .collect()
}

fn parse(line: &str, number: usize) -> Result<Line, &'static str> {
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=').ok_or("expected NAME=value")?;
    let name = name.trim();
    if !is_name(name) {
        return Err("a name has letters, digits and _, and no digit first");
    }
    let value = value_of(value.trim_start())?;
    if value.contains('\0') {
        return Err("a value has no NUL in it");
    }
    Ok(Line { name: name.to_owned(), value, number })
}

fn is_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn value_of(text: &str) -> Result<String, &'static str> {
    match text.chars().next() {
        Some('\'') => literal(&text[1..]),
        Some('"') => escaped(&text[1..]),
        _ => Ok(bare(text).to_owned()),
    }
}

fn bare(text: &str) -> &str {
    let comment = text.find(" #").or_else(|| text.find("\t#"));
    let text = if text.starts_with('#') { "" } else { &text[..comment.unwrap_or(text.len())] };
    text.trim_end()
}

fn literal(rest: &str) -> Result<String, &'static str> {
    let (value, after) = rest.split_once('\'').ok_or(UNCLOSED)?;
    nothing_after(after)?;
    Ok(value.to_owned())
}

fn escaped(rest: &str) -> Result<String, &'static str> {
    let mut value = String::new();
    let mut chars = rest.chars();
    loop {
        match chars.next().ok_or(UNCLOSED)? {
            '"' => break,
            '\\' => value.push(escape(chars.next())?),
            other => value.push(other),
        }
    }
    nothing_after(chars.as_str())?;
    Ok(value)
}

fn escape(letter: Option<char>) -> Result<char, &'static str> {
    match letter {
        Some('n') => Ok('\n'),
        Some('r') => Ok('\r'),
        Some('t') => Ok('\t'),
        Some(same @ ('"' | '\\' | '$')) => Ok(same),
        _ => Err("within \"...\" a backslash stands before n, r, t, \", $ or another backslash"),
    }
}

fn nothing_after(rest: &str) -> Result<(), &'static str> {
    match rest.trim_start() {
        "" => Ok(()),
        comment if comment.starts_with('#') => Ok(()),
        _ => Err("nothing but a comment may follow the closing quote"),
    }
}

const UNCLOSED: &str = "the quote is not closed on its line";

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Result<String, &'static str> {
        parse(&format!("A={text}"), 1).map(|line| line.value)
    }

    #[test]
    fn lines_and_their_numbers() {
        let lines = read("# first\n\nA=1\n  export B = 2 \r\n").expect("valid");
        let found: Vec<_> =
            lines.iter().map(|line| (&*line.name, &*line.value, line.number)).collect();
        assert_eq!(found, [("A", "1", 3), ("B", "2", 4)]);
    }

    #[test]
    fn values() {
        for (text, expected) in [
            ("", ""),
            ("plain words", "plain words"),
            ("a#b", "a#b"),
            ("a # comment", "a"),
            ("# comment", ""),
            ("a=b", "a=b"),
            ("pa$$word", "pa$$word"),
            ("'a # \\n \"'", "a # \\n \""),
            ("'a' # comment", "a"),
            (r#""a\n\t\"\\\$ #""#, "a\n\t\"\\$ #"),
            ("\"\"", ""),
        ] {
            assert_eq!(value(text), Ok(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn mistakes() {
        for text in ["'open", "\"open", "\"open\\\"", "'a' b", "\"a\"b", r#""\x""#, "a\0"] {
            assert!(value(text).is_err(), "{text}");
        }
        for text in ["A", "1A=x", "A-B=x", "=x", "A B=x"] {
            assert_eq!(read(&format!("\n{text}")).map_err(|(line, _)| line), Err(2), "{text}");
        }
    }
}
