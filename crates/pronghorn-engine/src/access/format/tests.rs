use std::net::SocketAddr;
use std::sync::OnceLock;

use pronghorn_proto::head::HeadScanner;
use pronghorn_proto::limits::Limits;

use super::*;
use crate::address::{Local, Peer};
use crate::request::{Pool, Request};
use pronghorn_proto::encode::ResponseFields;

const HEAD: &[u8] = b"POST /a%20b/%C3%A9?x=1&y=\"2\" HTTP/1.1\r\nHost: h\r\nX-One: 1\r\n\
    Authorization: Basic am9l\"\r\nUser-Agent: curl\xff\r\nX-One: 2\r\nReferer: http://r/\r\n\
    Content-Type: text/plain\r\nContent-Length: 0\r\nX-Forwarded-For: 1.2.3.4\r\n\r\n";

fn request(head: &[u8]) -> Box<Request> {
    let mut request = Pool::default().take().expect("memory");
    request.buffer.extend_from_slice(head);
    let complete = HeadScanner::default().advance(head, &Limits::default(), &mut request.head);
    request.head_length = complete.ok().flatten().unwrap_or_default();
    request
}

fn line_of(format: &str, head: &[u8], peer: Peer) -> String {
    let request = request(head);
    let mut fields = ResponseFields::default();
    for (name, value) in [("X-Made", "by \"us\""), ("Content-Length", "7"), ("x-made", "2")] {
        fields.push(name.as_bytes(), value.as_bytes()).expect("a field");
    }
    let local = Local { index: 0, name: "::1".to_owned(), port: "80".to_owned(), unix: false };
    let process = Process { pid: 4711, locals: OnceLock::from(vec![local]) };
    let entry = Entry {
        request: &request,
        client: peer.into(),
        listener: 0,
        fields: Some(&fields),
        status: 200,
        bytes: 14,
    };
    let mut out = Vec::new();
    Format::parse(format).expect("a format").append(&mut out, &entry, &process);
    String::from_utf8(out).expect("UTF-8")
}

fn peer() -> Peer {
    Peer::Inet(SocketAddr::from(([10, 0, 0, 203], 5000)))
}

fn line(format: &str) -> String {
    line_of(format, HEAD, peer())
}

#[test]
fn each_atom_says_what_it_says_in_gunicorn() {
    for (format, text) in [
        ("%(h)s", "10.0.0.203"),
        ("%(l)s", "-"),
        ("%(u)s", "-"),
        ("%(r)s", r#"POST /a%20b/%C3%A9?x=1&y=\"2\" HTTP/1.1"#),
        ("%(m)s", "POST"),
        ("%(U)s", "/a%20b/%C3%A9"),
        ("%(q)s", r#"x=1&y=\"2\""#),
        ("%(H)s", "HTTP/1.1"),
        ("%(s)s", "200"),
        ("%(s)d", "200"),
        ("%(b)s", "14"),
        ("%(B)s", "14"),
        ("%(f)s", "http://r/"),
        ("%(a)s", r"curl\xff"),
        ("%(T)s %(M)s %(D)s %(L)s", "0 0 0 0.000000"),
        ("%(p)s", "<4711>"),
        ("%({x-one}i)s", "1, 2"),
        ("%({Referer}i)s", "http://r/"),
        ("%({x-none}i)s", "-"),
        ("%({X-Made}o)s", r#"by \"us\", 2"#),
        ("%({content-length}o)s", "7"),
        ("%({x-none}o)s", "-"),
        ("100%% of %(m)s%%", "100% of POST%"),
    ] {
        assert_eq!(line(&format!("{format}%%")), format!("{text}%"), "{format}");
    }
}

#[test]
fn each_variable_that_the_server_knows() {
    for (variable, text) in [
        ("REQUEST_METHOD", "POST"),
        ("PATH_INFO", r"/a b/\xc3\xa9"),
        ("QUERY_STRING", r#"x=1&y=\"2\""#),
        ("RAW_URI", r#"/a%20b/%C3%A9?x=1&y=\"2\""#),
        ("SERVER_PROTOCOL", "HTTP/1.1"),
        ("SERVER_NAME", "::1"),
        ("SERVER_PORT", "80"),
        ("REMOTE_ADDR", "10.0.0.203"),
        ("REMOTE_PORT", "5000"),
        ("CONTENT_TYPE", "text/plain"),
        ("CONTENT_LENGTH", "0"),
        ("HTTP_X_FORWARDED_FOR", "1.2.3.4"),
        ("HTTP_X_ONE", "1, 2"),
        ("HTTP_HOST", "h"),
        ("wsgi.url_scheme", "-"),
        ("HOME", "-"),
    ] {
        assert_eq!(line(&format!("%({{{variable}}}e)s")), text, "{variable}");
    }
}

#[test]
fn the_user_of_basic_authorization() {
    for (value, user) in [
        ("Basic am9lOnNlY3JldA==", "joe"),
        ("bAsIc am9lOnNlY3JldA==", "joe"),
        ("Basic YSJiCjpzZWNyZXQ=", r#"a\"b\x0a"#),
        ("Basic OnNlY3JldA==", "-"),
        ("Basic am9l", "-"),
        ("Basic !", "-"),
        ("Bearer am9lOnNlY3JldA==", "-"),
        ("Basic", "-"),
        ("", "-"),
    ] {
        let head = format!("GET / HTTP/1.1\r\nHost: h\r\nAuthorization: {value}\r\n\r\n");
        assert_eq!(line_of("%(u)s", head.as_bytes(), peer()), user, "{value}");
    }
}

#[test]
fn a_request_that_could_not_be_read_has_dashes() {
    const ALL: &str = "%(h)s %(u)s %(m)s %(U)s %(q)s %(H)s %(f)s %(a)s \"%(r)s\"";
    for (head, text) in [
        (&b""[..], "- - - -  - - - \"-\""),
        (b"GET / HTTP/1.1\r\nBad Field: x\r\n\r\n", "- - GET /  HTTP/1.1 - - \"GET / HTTP/1.1\""),
        (b"OPTIONS * HTTP/1.0\r\n\r\n", "- - OPTIONS *  HTTP/1.0 - - \"OPTIONS * HTTP/1.0\""),
    ] {
        assert_eq!(line_of(ALL, head, Peer::Unix), text);
    }
}

#[test]
fn common_and_combined() {
    let (before, after) = line("combined")
        .split_once(" [")
        .map(|(b, a)| (b.to_owned(), a.to_owned()))
        .expect("a time");
    assert_eq!(before, "10.0.0.203 - -");
    let rest = r#" +0000] "POST /a%20b/%C3%A9?x=1&y=\"2\" HTTP/1.1" 200 14"#;
    assert_eq!(&after[20..], format!(r#"{rest} "http://r/" "curl\xff""#));
    assert!(line("common").ends_with(rest));
}

#[test]
fn a_json_line_has_every_key() {
    let line = line("json");
    let (time, rest) = line.split_at(35);
    assert!(time.starts_with("{\"time\":\"20") && time.ends_with("Z\","), "{time}");
    assert_eq!(
        rest,
        "\"client\":\"10.0.0.203\",\"method\":\"POST\",\"path\":\"/a%20b/%C3%A9\",\
         \"query\":\"x=1&y=\\\"2\\\"\",\"status\":200,\"bytes\":14,\"duration\":0.000000,\
         \"queue_wait\":0.000000,\"request_id\":null,\"traceparent\":null,\
         \"user_agent\":\"curl\\u00ff\",\"referer\":\"http://r/\",\"protocol\":\"HTTP/1.1\",\
         \"worker\":4711}"
    );
}

#[test]
fn what_is_no_format_is_explained() {
    for (text, reason) in [
        ("", "\"\" has no atom. Write common, combined, json, or atoms such as %(h)s"),
        ("jsn", "\"jsn\" has no atom. Write common, combined, json, or atoms such as %(h)s"),
        ("%(h)s\n", "a line of the log has no line break in it"),
        ("%h %l", "\"%h %l\" begins no atom. Write %(h)s for an atom, and %% for a percent sign"),
        ("50%", "\"%\" begins no atom. Write %(h)s for an atom, and %% for a percent sign"),
        ("%(h", "\"%(h\" begins no atom. Write %(h)s for an atom, and %% for a percent sign"),
        ("%(h)", "%(h) lacks its s. Write %(h)s"),
        ("%(h)x", "%(h) lacks its s. Write %(h)s"),
    ] {
        assert_eq!(Format::parse(text), Err(FormatError(reason.to_owned())), "{text}");
    }
    for text in ["%(x)s", "%()s", "%(hh)s", "%({x}j)s", "%({x)s"] {
        let reason = Format::parse(text).expect_err("no format").to_string();
        assert!(reason.contains("is no atom. There are h l u t r"), "{text}: {reason}");
    }
}
