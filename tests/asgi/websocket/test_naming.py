"""The log names a WebSocket as one, whatever it tells of it."""

import signal

import pytest

from harness.websocket import close, handshake, opened

LABEL = r"WebSocket /{} of 127\.0\.0\.1:\d+"


def test_failures_of_an_application(serve_asgi, loop):
    server = serve_asgi("ws_closing:app", "--loop", loop)
    with opened(server, "/fail?secret=1") as socket:
        assert socket.read_close()[0] == 1011
        socket.send(close(1011))
        assert socket.client.is_closed()
    server.wait_for_log(r"\[ERROR\] WebSocket /fail: the application failed\nTraceback")
    assert "GET" not in server.log() and "secret" not in server.log()


def test_an_application_that_does_not_answer(serve_asgi):
    server = serve_asgi("ws_opening:app")
    with server.raw() as client:
        assert client.ask(handshake(target=b"/leave")).status == 500
    server.wait_for_log(r"\[ERROR\] WebSocket /leave: the application returned before it answered")


def test_the_watchdog(serve_asgi, loop):
    server = serve_asgi("ws_staying:app", "--loop", loop, "--request-timeout", "1s", "--slow-request", "300ms")
    with server.raw() as client:
        assert client.ask(handshake(target=b"/silent/30")).status == 504
    server.wait_for_log(LABEL.format("silent/30") + ": runs for .* longer than slow-request")
    server.wait_for_log(LABEL.format("silent/30") + ": runs for .* longer than request-timeout")


@pytest.mark.parametrize("name", ["deaf", "silent"])
def test_stacks(serve_asgi, loop, name):
    server = serve_asgi("ws_staying:app", "--loop", loop, "--graceful-timeout", "1s")
    with server.raw() as client:
        client.send(handshake(target=f"/{name}/2".encode()))
        server.wait_for_log("WebSocket stays")
        server.signal(signal.SIGABRT)
        server.wait_for_log(LABEL.format(f"{name}/2") + r", for \d\.\d s(, its response has begun)?:\n")
        server.wait_for_log("stayed to the end")


def test_the_access_log_has_the_request_line(serve_asgi):
    server = serve_asgi("ws_closing:app", "--access-log", "-")
    with opened(server, "/listen") as socket:
        socket.shut()
    server.wait_for_log('"GET /listen HTTP/1.1" 101 ')
