"""Signals that arrive while the application blocks the event loop."""

from __future__ import annotations

import signal


def test_the_server_drains_when_the_loop_is_free_again(serve_asgi, loop):
    server = serve_asgi("blocking:app", "--loop", loop)
    with server.raw() as client:
        client.send(b"GET /0.3 HTTP/1.1\r\nHost: test\r\n\r\n")
        server.wait_for_log("blocking")
        server.signal(signal.SIGTERM)
        assert client.read_response().body == b"slept"
        assert client.is_closed()
    assert server.wait(5) == 0
