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


# werkzeug's wants the body of a HEAD to be iterated, which PEP 3333 does not ask of a server.
JUDGED = [
    (name, validator)
    for name in REQUESTS
    for validator in ("wsgiref", "werkzeug", "paste")
    if (name, validator) != ("HEAD", "werkzeug")
]


@pytest.mark.parametrize(("name", "validator"), JUDGED)
def test_no_objection(share, name, validator):
    server = share(f"validated:{validator}")
    before = len(server.log())
    with server.raw() as client:
        for _ in range(2):
            assert client.ask(REQUESTS[name], name).status == 200
    assert server.log()[before:] == ""
