"""The validators of WSGI find nothing to say about the server, whatever the request is."""

import pytest
from harness.request import chunked, chunks, get, head, post

REQUESTS = {
    "GET": get(target=b"/a%20b?c=d"),
    "HEAD": head(b"HEAD / HTTP/1.1", b"Host: test"),
    "OPTIONS": head(b"OPTIONS /x HTTP/1.1", b"Host: test"),
    "POST": post(b"hello", b"Content-Type: text/plain"),
    "PUT": head(b"PUT / HTTP/1.1", b"Host: test", b"Content-Length: 0"),
    "DELETE": head(b"DELETE / HTTP/1.1", b"Host: test"),
    "chunked": chunked(chunks(b"hello", b"again")),
    "large": post(b"x" * 2_000_000),
    "fields": get(b"Cookie: a=b", b"X-A: \xe9", b"X-A: 2", b"Accept: */*"),
}


@pytest.mark.parametrize("validator", ["wsgiref", "werkzeug", "paste"])
@pytest.mark.parametrize("name", REQUESTS)
def test_no_objection(share, validator, name):
    server = share(f"validated:{validator}")
    before = len(server.log())
    with server.raw() as client:
        for _ in range(2):
            assert client.ask(REQUESTS[name], name).status == 200
    assert server.log()[before:] == ""
