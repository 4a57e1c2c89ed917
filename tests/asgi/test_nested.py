"""An application that runs the event loop within one of its callbacks is served and ended like others.

uvloop refuses to run again, so this is about asyncio's loop.
"""

import contextlib
import signal
import time

import pytest

from harness.request import get, post
from harness.websocket import TEXT, frame, opened


@pytest.fixture
def start(serve_asgi):
    """A function that starts a server of such applications, without anybody who would end it."""
    return lambda *args: serve_asgi("nested:app", "--loop", "asyncio", *args)


@pytest.fixture(params=["first", "later"])
def waiting(start, request):
    """A function that starts a server with a client whose application runs the loop until its body, which lacks an o, is there."""
    with contextlib.ExitStack() as scope:

        def begin(*args):
            server = start(*args)
            client = scope.enter_context(server.raw(timeout=10))
            client.send(post(b"hello", target=f"/{request.param}".encode())[:-1])
            server.wait_for_log("nested")
            assert client.is_silent(0.1)
            return server, client

        yield begin


def test_who_receives_within_a_step_is_woken(waiting):
    _, client = waiting()
    client.send(b"o")
    assert client.read_response().body == b"hello"


def test_others_are_served_meanwhile(waiting):
    server, client = waiting()
    for _ in range(3):
        assert server.get("/hello").body == b"hello"
    with server.raw() as other:
        other.send(post(b"other", target=b"/later")[:-1])
        server.wait_for_log("nested\nnested")
        other.send(b"r")
        assert other.read_response().body == b"other"
    client.send(b"o")
    assert client.read_response().body == b"hello"


def test_one_nested_in_another_is_served(waiting):
    server, client = waiting()
    with server.raw() as inner:
        assert inner.ask(post(b"inner", target=b"/first")).body == b"inner"
    client.send(b"o")
    assert client.read_response().body == b"hello"


def test_a_stop_waits_for_who_receives_within_a_step(waiting):
    server, client = waiting()
    server.signal(signal.SIGTERM)
    server.wait_for_log("finishing the requests in flight")
    assert client.is_silent(0.3)
    client.send(b"o")
    assert client.read_response().body == b"hello"
    assert server.wait() == 0


@pytest.mark.parametrize("when", ["first", "later"])
def test_a_request_over_its_time_is_answered_and_cancelled(start, when):
    server = start("--request-timeout", "500ms")
    began = time.monotonic()
    assert server.get(f"/slow/{when}").status == 504
    assert time.monotonic() - began < 1.3
    server.wait_for_log("its task is cancelled, its client got 504")
    server.wait_for_log("was cancelled")


def test_a_stop_cuts_who_receives_within_a_step(waiting):
    server, client = waiting("--graceful-timeout", "1s")
    server.signal(signal.SIGTERM)
    began = time.monotonic()
    assert server.wait() == 1
    assert 0.9 < time.monotonic() - began < 4
    assert client.is_closed()


def test_the_end_of_a_client_is_told_within_a_step(start):
    server = start()
    with server.raw() as client:
        client.send(get(target=b"/ended"))
        server.wait_for_log("nested")
        client.reset()
    server.wait_for_log("then http.disconnect")


def test_messages_are_received_within_a_step(start):
    with opened(start(), "/") as websocket:
        for text in ("one", "two"):
            websocket.send(frame(TEXT, text.encode()))
            assert websocket.read_message() == text
        websocket.shut()


@pytest.mark.parametrize("name", ["background", "background_task"])
def test_a_run_within_another_does_not_take_its_stop(start, name):
    server = start()
    assert server.get(f"/{name}").body == b"answered"
    assert server.get("/hello").body == b"hello"
    server.signal(signal.SIGTERM)
    began = time.monotonic()
    assert server.wait() == 0
    assert time.monotonic() - began < 3
