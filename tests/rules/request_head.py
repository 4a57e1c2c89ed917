"""Checks of the request head: RFC 9112 sections 2 to 3 and 5, RFC 9110 sections 4, 7 and 10."""

from harness.request import get, head, post
from harness.rule import rule
from harness.site import Site

CONTROLS = [*range(0x01, 0x09), *range(0x0B, 0x20), 0x7F]


@rule(1, "Host is a host with an optional port: anything else is refused", inputs=[
    b"a/b", b"a?b", b"a#b", b"user@a", b"a b", b"a,b", b"a, b", b"a\\b", b'"a"', b"a<b>",
    b"a:80a", b"a:+80", b"a:-1", b"a:8 0", b"a:80:80", b"[::1", b"::1", b"[::1]x", b"[::1]:x", b"%zz", b"http://a",
])  # fmt: skip
def malformed_host(site: Site, host: bytes) -> None:
    site.refuses(get(host=host), 400)


@rule(1, "every form of host and port is taken, an empty Host too", inputs=[
    "example.com", "EXAMPLE.com:8080", "a_b.example", "127.0.0.1:80", "[::1]", "[2001:db8::1]:443", "xn--nxasmq6b", "",
])  # fmt: skip
def wellformed_host(site: Site, host: str) -> None:
    site.answers(get(host=host.encode()), environ={"HTTP_HOST": host})


@rule(2, "the host of an absolute target replaces the Host field", inputs=[
    (b"http://real/p", "real", "/p", ""),
    (b"http://real:8080/p?q=1", "real:8080", "/p", "q=1"),
    (b"HTTP://real/a%20b", "real", "/a b", ""),
    (b"http://real", "real", "/", ""),
    (b"http://[::1]:80/p", "[::1]:80", "/p", ""),
    (b"http://real?q=1", "real", "/", "q=1"),
])  # fmt: skip
def absolute_target(site: Site, example: tuple[bytes, str, str, str]) -> None:
    target, host, path, query = example
    site.answers(get(target=target, host=b"other"), path=path, query=query, environ={"HTTP_HOST": host})


@rule(2, "an absolute target without a host, or with a user in it, is refused", inputs=[
    b"http:///p", b"http://", b"http://user@real/p", b"http://a b/p", b"http://real:x/p",
])  # fmt: skip
def malformed_absolute_target(site: Site, target: bytes) -> None:
    site.refuses(get(target=target, host=b"other"), 400)


@rule(3, "HTTP/1.1 without Host is refused, for an absolute target too", inputs=[b"/", b"http://real/p"])
def missing_host(site: Site, target: bytes) -> None:
    site.refuses(get(target=target, host=None), 400)


@rule(3, "HTTP/1.0 needs no Host")
def missing_host_in_old_version(site: Site) -> None:
    site.answers(head(b"GET /old HTTP/1.0"), kept=False, path="/old")


@rule(3, "more than one Host line is refused, even of equal ones", inputs=[b"test", b"other", b""])
def repeated_host(site: Site, second: bytes) -> None:
    site.refuses(get(b"Host: " + second), 400)


@rule(4, "OPTIONS may have the target *")
def options_asterisk(site: Site) -> None:
    site.answers(head(b"OPTIONS * HTTP/1.1", b"Host: test"), method="OPTIONS", path="*")


@rule(4, "a target that is no path, no absolute URI and not * of OPTIONS is refused", inputs=[
    b"GET *", b"GET path", b"GET example.com:80", b"GET ?q", b"GET \\x", b"GET ", b"GET  /", b"POST *", b"OPTIONS *x", b"GET /a b",
])  # fmt: skip
def malformed_target(site: Site, start: bytes) -> None:
    site.refuses(head(start + b" HTTP/1.1", b"Host: test"), 400)


@rule(4, "CONNECT is not implemented", inputs=[b"example.com:443", b"[::1]:443"])
def connect(site: Site, target: bytes) -> None:
    site.refuses(head(b"CONNECT " + target + b" HTTP/1.1", b"Host: " + target), 501)


@rule(5, "one empty line before the request line is skipped")
def empty_line_first(site: Site) -> None:
    site.answers(b"\r\n" + get(target=b"/here"), path="/here")


@rule(5, "a field line that starts with white space or a colon, or has it before the colon, is refused", inputs=[
    b" X: y", b"\tX: y", b": y", b":", b"X : y", b"X\t: y", b"X", b"X y", b"X(: y", b"X\xe9: y", b'"X": y',
])  # fmt: skip
def malformed_field_line(site: Site, line: bytes) -> None:
    site.refuses(get(line), 400)
    site.refuses(head(b"GET / HTTP/1.1", line, b"Host: test"), 400)


@rule(5, "a field line folded onto the next is refused", inputs=[b" folded", b"\tfolded", b" "])
def folded_field(site: Site, second: bytes) -> None:
    site.refuses(get(b"X: y", second), 400)


@rule(5, "a control byte in a field value is refused", inputs=[*(bytes([byte]) for byte in CONTROLS), b"\x00"])
def control_byte_in_value(site: Site, byte: bytes) -> None:
    site.refuses(get(b"X: a" + byte + b"b"), 400)


@rule(5, "a control byte in a field name is refused", inputs=[*(bytes([byte]) for byte in CONTROLS), b"\x00"])
def control_byte_in_name(site: Site, byte: bytes) -> None:
    site.refuses(get(b"X" + byte + b"Y: a"), 400)


@rule(5, "a control byte in the request line is refused", inputs=[*(bytes([byte]) for byte in CONTROLS), b"\x00"])
def control_byte_in_request_line(site: Site, byte: bytes) -> None:
    site.refuses(get(target=b"/a" + byte + b"b"), 400)


@rule(
    5,
    "bytes from 0x80 up stay one value, read as latin-1",
    inputs=[b"\x80", b"\xc3\xa9", b"\xe9", b"\xff", b"\x85 \xa0"],
)
def high_bytes(site: Site, value: bytes) -> None:
    site.answers(get(b"X-A: <" + value + b">"), environ={"HTTP_X_A": f"<{value.decode('latin-1')}>"})


@rule(5, "white space around a value is not part of it", inputs=[b"X-A:v", b"X-A: \t v", b"X-A: v \t", b"X-A:\tv"])
def space_around_value(site: Site, line: bytes) -> None:
    site.answers(get(line), environ={"HTTP_X_A": "v"})


@rule(6, "another major version is 505", inputs=[b"HTTP/2.0", b"HTTP/0.9", b"HTTP/3.0", b"HTTP/9.9"])
def other_major_version(site: Site, version: bytes) -> None:
    response = site.refuses(head(b"GET / " + version, b"Host: test"), 505)
    assert response.version == "HTTP/1.1"


@rule(6, "a version that is not one is refused", inputs=[
    b"http/1.1", b"HTTP/1", b"HTTP/1.10", b"HTTP/11", b"HTTP/1.", b"HTTP/a.b", b"HTTP 1.1", b"HTTPS/1.1", b"HTTP/1.1 ", b"HTTP/1.1 x",
    b"HTTP/-1.1", b"HTTP/1,1", b"XTTP/1.1",
])  # fmt: skip
def malformed_version(site: Site, version: bytes) -> None:
    site.refuses(head(b"GET / " + version, b"Host: test"), 400)


@rule(6, "a request line without a version is refused", inputs=[b"GET /", b"GET", b"GET / "])
def missing_version(site: Site, line: bytes) -> None:
    site.refuses(head(line, b"Host: test"), 400)


@rule(6, "the reply says the server's own version", inputs=[b"HTTP/1.0", b"HTTP/1.1", b"HTTP/1.2", b"HTTP/1.9"])
def own_version(site: Site, version: bytes) -> None:
    response = site.answers(head(b"GET / " + version, b"Host: test"), kept=version != b"HTTP/1.0")
    assert response.version == "HTTP/1.1"


@rule(7, "a request line over 8 KiB is 414")
def long_request_line(site: Site) -> None:
    site.refuses(get(target=b"/" + b"a" * 8192), 414)


@rule(7, "a field over 8 KiB is 431")
def long_field(site: Site) -> None:
    site.refuses(get(b"X: " + b"a" * 8192), 431)


@rule(7, "fields over 64 KiB together are 431")
def long_fields(site: Site) -> None:
    site.refuses(get(*(b"X-%d: " % n + b"a" * 4000 for n in range(17))), 431)


@rule(7, "more than 100 fields are 431")
def many_fields(site: Site) -> None:
    site.refuses(get(*(b"X-%d: a" % n for n in range(100))), 431)


@rule(7, "what is within the limits is taken", inputs=["line", "field", "fields", "total"])
def within_limits(site: Site, what: str) -> None:
    requests = {
        "line": get(target=b"/" + b"a" * 8000),
        "field": get(b"X: " + b"a" * 8000),
        "fields": get(*(b"X-%d: a" % n for n in range(99))),
        "total": get(*(b"X-%d: " % n + b"a" * 4000 for n in range(15))),
    }
    site.answers(requests[what], method="GET")


@rule(7, "a body announced with more than 100 MiB is 413, before it comes")
def large_body(site: Site) -> None:
    site.refuses(head(b"POST / HTTP/1.1", b"Host: test", b"Content-Length: 104857601"), 413)


@rule(8, "close is found anywhere in the Connection list, in any case", inputs=[
    [b"Connection: close"], [b"Connection: foo, CLOSE"], [b"Connection: Close ,foo"], [b"Connection: foo", b"Connection: close"],
    [b"connection:close"], [b"Connection: keep-alive, close"], [b"Connection: ,close,"],
])  # fmt: skip
def connection_close(site: Site, lines: list[bytes]) -> None:
    site.answers(get(*lines), kept=False)


@rule(8, "a word that only contains close does not close", inputs=[b"closed", b"not-close", b"foo", b"keep-alive"])
def connection_other(site: Site, option: bytes) -> None:
    site.answers(get(b"Connection: " + option))


@rule(9, "HTTP/1.0 never gets an interim response")
def no_interim_for_old_version(site: Site) -> None:
    request = head(b"POST / HTTP/1.0", b"Content-Length: 5", b"Expect: 100-continue") + b"hello"
    assert site.answers(request, kept=False, body="hello").interim == []


@rule(9, "HTTP/1.0 never gets chunks", app="responses:app", inputs=[b"", b"Connection: keep-alive"])
def no_chunks_for_old_version(site: Site, field: bytes) -> None:
    response = site.exchange(head(b"GET /generator HTTP/1.0", *filter(None, [field]))).only()
    assert response.framing in ("close", "length") and response.body == b"one two three"


@rule(9, "HTTP/1.0 is kept alive only when it asks, and is told")
def keep_alive_in_old_version(site: Site) -> None:
    site.answers(head(b"GET / HTTP/1.0"), kept=False)
    response = site.answers(head(b"GET / HTTP/1.0", b"Connection: Keep-Alive"))
    assert (response.get("connection") or "").lower() == "keep-alive"


@rule(10, "an upgrade to h2c or something unknown is ignored, and the body arrives", inputs=[
    [b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AAMAAABk"],
    [b"Connection: upgrade", b"Upgrade: foo/2"],
    [b"Upgrade: h2c"],
])  # fmt: skip
def ignored_upgrade(site: Site, lines: list[bytes]) -> None:
    site.answers(post(b"hello", *lines), body="hello")


@rule(10, "HTTP/1.0 cannot upgrade")
def upgrade_in_old_version(site: Site) -> None:
    fields = [
        b"Connection: Upgrade",
        b"Upgrade: websocket",
        b"Sec-WebSocket-Version: 12",
        b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
    ]
    site.answers(head(b"GET /old HTTP/1.0", b"Host: test", *fields), kept=False, path="/old")
