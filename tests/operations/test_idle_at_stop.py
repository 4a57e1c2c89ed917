"""Stops cut work, and tell of it; a connection on which everything was said is closed quietly."""

import signal
import time
from pathlib import Path

import pytest

from harness.request import get, head

ASGI = Path(__file__).parent.parent / "asgi" / "apps"
APPS = {"wsgi": ("naps:app", None, "/nap/{}"), "asgi": ("numbered:app", ASGI, "/{}/nap")}
CUT = "which are cut"
STOPS = {
    "INT": (signal.SIGINT, "30s", 0),
    "QUIT": (signal.SIGQUIT, "30s", 0),
    "TERM": (signal.SIGTERM, "700ms", 1),
}
STOP = pytest.mark.parametrize("stop", STOPS)


@pytest.fixture(params=["alone", "supervised"])
def supervised(request):
    """Whether there is a supervisor."""
    return request.param == "supervised"


@pytest.fixture(params=APPS)
def interface(request):
    """The interface of the application."""
    return request.param


@pytest.fixture
def start(serve, interface, supervised):
    """A function that starts an application that sleeps, with so much time to stop, and one that asks it to."""
    app, app_dir, path = APPS[interface]

    def serve_with(graceful, *args):
        return serve(app, "--graceful-timeout", graceful, *args, app_dir=app_dir, supervised=supervised)

    return serve_with, lambda seconds: get(target=path.format(seconds).encode())


@STOP
def test_an_idle_connection_is_not_cut(start, stop):
    (serve, nap), (number, graceful, _) = start, STOPS[stop]
    server = serve(graceful)
    with server.raw() as client, server.raw():
        assert client.ask(nap(0)).status == 200
        server.signal(number)
        began = time.monotonic()
        assert server.wait() == 0
        assert time.monotonic() - began < 3
        assert client.is_closed()
    assert CUT not in server.log() and "WARNING" not in server.log() and "ERROR" not in server.log()


@STOP
def test_only_connections_with_a_request_count_as_cut(start, stop):
    (serve, nap), (number, graceful, code) = start, STOPS[stop]
    server = serve(graceful)
    with server.raw() as idle, server.raw(), server.raw(timeout=10) as busy:
        assert idle.ask(nap(0)).status == 200
        busy.send(nap(30))
        server.wait_for_log(r"napping(.*\n)+napping")
        server.signal(number)
        assert server.wait() == code
    assert "connections still busy, which are cut: 1" in server.log()


@STOP
def test_half_a_request_counts_as_cut(start, stop):
    (serve, nap), (number, graceful, code) = start, STOPS[stop]
    server = serve(graceful)
    with server.raw(timeout=10) as client:
        # What comes behind a request, in one piece with it, has been read when that is answered.
        assert client.ask(nap(0) + b"GET / HTTP/1.1\r\nHost: test\r\n").status == 200
        server.signal(number)
        assert server.wait() == code
    assert "connections still busy, which are cut: 1" in server.log()


@STOP
def test_an_empty_line_is_no_request(start, stop):
    (serve, nap), (number, graceful, _) = start, STOPS[stop]
    server = serve(graceful)
    with server.raw(timeout=10) as client:
        assert client.ask(nap(0) + b"\r\n").status == 200
        server.signal(number)
        assert server.wait() == 0
    assert CUT not in server.log()


@STOP
@pytest.mark.parametrize("graceful", ["700ms", "30s"])
def test_a_client_that_was_told_why_it_is_refused_is_not_cut(start, stop, graceful):
    (serve, _), (number, _, _) = start, STOPS[stop]
    server = serve(graceful)
    with server.raw(timeout=10) as client:
        client.send(head(b"BROKEN", b"Host: test"))
        assert client.read_response().status == 400
        server.signal(number)
        began = time.monotonic()
        assert server.wait() == 0
        assert time.monotonic() - began < 2.5
    assert CUT not in server.log()
