"""Checks of what a WSGI application sees and may do: PEP 3333."""

import io
import json

from apps import inputs as stream
from harness.request import chunked, chunks, get, head, post
from harness.rule import rule
from harness.site import Site

REQUIRED = {
    "REQUEST_METHOD": "GET", "SCRIPT_NAME": "", "PATH_INFO": "/p", "QUERY_STRING": "q=1", "SERVER_PROTOCOL": "HTTP/1.1", "wsgi.url_scheme": "http",
}  # fmt: skip
LINES = b"a\nbb\n\nccc"
OPERATIONS = [
    "iterate", "drain", "readline=1", "readlines", "readlines=2", "readlines=1", "readlines=0", "read=2;read", "readline;read", "read=-1",
    "read=0", "read=1000000000", "read=None", "readline=-1", "readline=0", "readline=None", "readlines=-1", "read=1;readline;next;readlines",
    "read;read;readline;readlines;iterate", "read=3;iterate", "next;read=1;readline=2;iterate;read=5", "read=4;readline=100;readline=2;read=-1",
]  # fmt: skip
MIXED = "readline;read=70000;readline=5;next;readlines=200000;iterate"
LARGE = b"".join(b"%d %s\n" % (n, b"x" * (n % 3000)) for n in range(500))


@rule(26, "lines of one name are joined with a comma")
def repeated_field(site: Site) -> None:
    site.answers(get(b"X-A: 1", b"X-B: 2", b"x-a: 3"), environ={"HTTP_X_A": "1, 3", "HTTP_X_B": "2"})


@rule(26, "cookie lines are joined with a semicolon")
def repeated_cookie(site: Site) -> None:
    site.answers(get(b"Cookie: a=1", b"Cookie: b=2"), environ={"HTTP_COOKIE": "a=1; b=2"})


@rule(26, "Proxy never becomes HTTP_PROXY", inputs=[b"Proxy", b"proxy", b"PROXY"])
def proxy_field(site: Site, name: bytes) -> None:
    site.answers(get(name + b": http://evil"), environ={"HTTP_PROXY": None})


@rule(26, "a name with an underscore cannot pass for one with a hyphen")
def underscore_field(site: Site) -> None:
    site.answers(get(b"X_A: forged"), environ={"HTTP_X_A": None})
    site.answers(get(b"X-A: 1", b"X_A: forged"), environ={"HTTP_X_A": "1"})
    site.answers(post(b"hello", b"Content_Length: 1", b"Transfer_Encoding: chunked"), body="hello")


@rule(26, "the keys CGI requires are there")
def required_keys(site: Site) -> None:
    response = site.answers(
        get(target=b"/p?q=1"), environ={**REQUIRED, "CONTENT_LENGTH": None, "HTTP_CONTENT_LENGTH": None}
    )
    seen = response.json()["environ"]
    assert seen["SERVER_NAME"] and seen["SERVER_PORT"].isdecimal()
    assert seen["REMOTE_ADDR"] == "127.0.0.1"


@rule(26, "type and length of the body have no HTTP_ before their names")
def content_keys(site: Site) -> None:
    environ = {"CONTENT_TYPE": "text/x", "CONTENT_LENGTH": "5", "HTTP_CONTENT_TYPE": None, "HTTP_CONTENT_LENGTH": None}
    site.answers(post(b"hello", b"Content-Type: text/x"), environ=environ)


@rule(26, "nothing of the process environment is in the environ")
def no_process_environment(site: Site) -> None:
    seen = site.answers(get()).json()["environ"]
    assert not {"PATH", "HOME", "PWD", "PYTHONUNBUFFERED"} & set(seen)


@rule(26, "the path is percent-decoded to latin-1, the query is left alone", inputs=[
    (b"/caf%C3%A9", "/caf\xc3\xa9", ""), (b"/%E9", "/\xe9", ""), (b"/a%2Fb%20c", "/a/b c", ""), (b"/a+b", "/a+b", ""), (b"/%", "/%", ""),
    (b"/%zz%4", "/%zz%4", ""), (b"/a?b=%20&c=?", "/a", "b=%20&c=?"), (b"/?", "/", ""), (b"//a/../b", "//a/../b", ""), (b"/a;b=c", "/a;b=c", ""),
    (b"/\xc3\xa9", "/\xc3\xa9", ""),
])  # fmt: skip
def decoded_path(site: Site, example: tuple[bytes, str, str]) -> None:
    target, path, query = example
    site.answers(get(target=target), path=path, query=query)


@rule(26, "any method reaches the application", inputs=["PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "X-OWN", "get"])
def any_method(site: Site, method: str) -> None:
    site.answers(head(method.encode() + b" / HTTP/1.1", b"Host: test"), method=method)


@rule(27, "start_response may come at the first iteration", app="starts:app", inputs=[b"late", b"late_after_empty"])
def late_start(site: Site, name: bytes) -> None:
    response = site.exchange(get(target=b"/" + name)).only()
    assert (response.status, response.get("x-a"), response.body) == (404, "1", b"late")


@rule(27, "start_response gives a write that works", app="starts:app")
def write(site: Site) -> None:
    assert site.exchange(get(target=b"/written")).only().body == b"ab"


@rule(27, "a second start_response without exc_info is an error", app="starts:app")
def second_start(site: Site) -> None:
    assert site.exchange(get(target=b"/twice")).only().body == b"raised"


@rule(27, "start_response with exc_info replaces a head that is not sent", app="starts:app")
def replaced_head(site: Site) -> None:
    response = site.exchange(get(target=b"/replaced")).only()
    assert (response.status, response.get("x-a"), response.get("x-b"), response.body) == (503, None, "2", b"replaced")


@rule(27, "start_response with exc_info raises it when the head is sent", app="starts:app", cut=["whole"])
def reraised(site: Site) -> None:
    site.exchange(get(target=b"/forget"))
    with site.raw() as client:
        client.send_pieces([get(target=b"/reraised")])
        client.wait_for(b"sent")
    with site.raw() as client:
        assert client.ask(get(target=b"/remembered")).body == b"ValueError"


@rule(27, "close is called once, in every ending", app="starts:app", inputs=[
    (b"GET", b"list"), (b"GET", b"generator"), (b"HEAD", b"list"), (b"HEAD", b"generator"), (b"GET", b"no_content"), (b"GET", b"fails"),
    (b"GET", b"fails_at_once"), (b"GET", b"short"), (b"GET", b"long"), (b"GET", b"never_starts"), (b"GET", b"close_raises"),
])  # fmt: skip
def closed_once(site: Site, example: tuple[bytes, bytes]) -> None:
    method, name = example
    with site.raw() as client:
        client.ask(get(target=b"/forget"))
    with site.raw() as client:
        client.send_pieces(
            site.delivery(head(method + b" /closing/" + name + b" HTTP/1.1", b"Host: test", b"Connection: close"))
        )
        while client.receive():
            pass
    with site.raw() as client:
        assert client.ask(get(target=b"/remembered")).body == b"closed " + name


@rule(28, "wsgi.input does what io.BytesIO does", app="inputs:app", inputs=OPERATIONS)
def input_operations(site: Site, operations: str) -> None:
    wanted = stream.perform(io.BytesIO(LINES), operations)
    target = b"/?" + operations.encode()
    for request in [post(LINES, target=target), chunked(chunks(LINES[:3], LINES[3:]), target=target)]:
        with site.raw() as client:
            client.send_pieces(site.delivery(request))
            assert client.read_response().json() == wanted


@rule(
    28,
    "wsgi.input of a large body does what io.BytesIO does",
    app="inputs:app",
    inputs=["iterate", "read", MIXED],
    cut=["whole", "by line"],
)
def large_input(site: Site, operations: str) -> None:
    wanted = stream.perform(io.BytesIO(LARGE), operations)
    target = b"/?" + operations.encode()
    for request in [
        post(LARGE, target=target),
        chunked(chunks(*(LARGE[at : at + 9999] for at in range(0, len(LARGE), 9999))), target=target),
    ]:
        with site.raw() as client:
            client.send_pieces(site.delivery(request))
            assert client.read_response().json() == wanted


@rule(
    28,
    "reading a request without a body returns at once",
    app="inputs:app",
    inputs=["read", "read=-1", "readline", "iterate"],
)
def no_input(site: Site, operations: str) -> None:
    wanted = stream.perform(io.BytesIO(b""), operations)
    with site.raw() as client:
        for request in [get(target=b"/?" + operations.encode()), post(b"", target=b"/?" + operations.encode())]:
            client.send_pieces(site.delivery(request))
            assert client.read_response().json() == wanted


@rule(28, "wsgi.input_terminated and wsgi.file_wrapper are there", app="environment:app")
def extensions(site: Site) -> None:
    seen = environment(site)
    assert seen["wsgi.input_terminated"] is True
    assert seen["wsgi.file_wrapper"] == "callable"


@rule(29, "the environ has the types PEP 3333 wants", app="environment:app")
def environ_types(site: Site) -> None:
    seen = environment(site)
    assert seen["environ"] == "dict" and seen["wsgi.version"] == [1, 0] and seen["wsgi.run_once"] is False
    assert seen["wsgi.multithread"] in (True, False) and seen["wsgi.multiprocess"] in (True, False)
    assert seen["wsgi.errors"] == "writable" and seen["headers"] == "list of tuples of str"


@rule(
    29,
    "the validator of the standard library has nothing to say",
    app="validated:wsgiref",
    inputs=[get(target=b"/p?q"), post(b"hello")],
)
def validator(site: Site, request: bytes) -> None:
    site.answers(request)


def environment(site: Site) -> dict:
    """What the application environment:app tells of its environ."""
    return json.loads(site.exchange(get()).only().body)
