//! What a developer sees in the browser when the application fails, with `debug`.

use pronghorn_proto::field::{Known, members};

use crate::request::Request;

/// The traceback as a page, or as plain text for a client that did not ask for HTML: the type, and the body.
pub(crate) fn page(request: Request<'_>, traceback: &str) -> (&'static [u8], Vec<u8>) {
    if wants_html(request) {
        (b"text/html; charset=utf-8", html(traceback).into_bytes())
    } else {
        (b"text/plain; charset=utf-8", traceback.as_bytes().to_vec())
    }
}

fn wants_html(request: Request<'_>) -> bool {
    let accepted = request.head.values(request.bytes, Known::Accept);
    accepted.flat_map(members).any(|member| {
        let media_type = member.split(|byte| *byte == b';').next().unwrap_or_default();
        media_type.trim_ascii().eq_ignore_ascii_case(b"text/html")
    })
}

fn html(traceback: &str) -> String {
    let last = traceback.trim_end().lines().last().unwrap_or_default();
    format!(
        "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title>\n\
         <h1>{title}</h1>\n<pre>{text}</pre>\n\
         <p>This page is shown because <code>debug</code> is on.</p></html>\n",
        title = escaped(last),
        text = escaped(traceback),
    )
}

/// A message may hold what a client sent.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(character),
        }
    }
    escaped
}
