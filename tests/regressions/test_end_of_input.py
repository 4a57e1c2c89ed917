"""A FIN that the server learned of together with the bytes before it went unnoticed: the connection hung until a deadline."""

import signal

import pytest

from harness.request import chunked, post


@pytest.mark.parametrize(("first", "rest", "statuses"), [
    (post(b"hello")[:-5], b"hell", [400]),
    (chunked(b""), b"5\r\nhel", [400]),
    (b"GET / HTTP/1.1\r\n", b"Host", []),
], ids=["length", "chunked", "head"])  # fmt: skip
def test_bytes_and_end_in_one_event(serve, first, rest, statuses):
    server = serve("echo:app")
    with server.raw() as client:
        client.send(first)
        assert client.is_silent(0.1)
        # While it is stopped, what arrives becomes one event.
        server.signal(signal.SIGSTOP)
        client.send(rest)
        client.half_close()
        server.signal(signal.SIGCONT)
        assert [response.status for response in client.read_to_end()] == statuses
