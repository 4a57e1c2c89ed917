"""Applications that go on when the client of their WebSocket has gone: for as long as disconnect-grace says."""

import signal
import time

import pytest

from harness.grace import GRACE, SHORT_GRACE, assert_ends_by_grace
from harness.websocket import TEXT, close, frame, handshake, opened


@pytest.fixture
def start(serve_asgi, loop):
    """A function that starts the application with a short grace, on each event loop."""

    def serve(*args, **more):
        return serve_asgi("ws_staying:app", "--loop", loop, *SHORT_GRACE, *args, **more)

    return serve


def goes_by_close(socket):
    """The closing handshake, after which the client keeps its connection."""
    socket.send(close(1000))


def goes_by_fault(socket):
    """A frame that none may send."""
    socket.send(frame(3))


def goes_by_fin(socket):
    """The end of the connection."""
    socket.client.close()


def goes_by_half_close(socket):
    """The end of the client's side: a WebSocket has no use for the other alone."""
    socket.client.half_close()


def goes_by_reset(socket):
    """A reset."""
    socket.client.reset()


def goes_with_messages(socket):
    """More than the application is given, and the end behind it."""
    socket.send(*[frame(TEXT, b"x")] * 100)
    socket.client.half_close()


WAYS = [goes_by_close, goes_by_fault, goes_by_fin, goes_by_half_close, goes_by_reset, goes_with_messages]
HOW = pytest.mark.parametrize("go", WAYS)


@HOW
@pytest.mark.parametrize("name", ["deaf", "told"])
def test_a_task_that_goes_on_is_cancelled(start, name, go):
    server = start()
    with opened(server, f"/{name}/30") as socket:
        began = time.monotonic()
        go(socket)
        assert_ends_by_grace(server, f"WebSocket /{name}/30 of .*", began)


@pytest.mark.parametrize("go", [goes_by_close, goes_by_fin, goes_by_reset])
def test_a_task_that_goes_on_when_send_has_raised_is_cancelled(start, go):
    server = start()
    with opened(server, "/sending/30") as socket:
        socket.read()
        began = time.monotonic()
        go(socket)
        assert_ends_by_grace(server, "WebSocket /sending/30 of .*", began)


def test_a_client_that_answers_no_ping_has_gone(start):
    server = start("--ws-ping-interval", "200ms", "--ws-ping-timeout", "200ms")
    with opened(server, "/deaf/30"):
        assert_ends_by_grace(server, "WebSocket /deaf/30 of .*", time.monotonic())


def test_a_client_that_takes_nothing_has_gone(start):
    server = start("--write-timeout", "500ms")
    with opened(server, "/pouring/30"):
        assert_ends_by_grace(server, "WebSocket /pouring/30 of .*", time.monotonic())


def test_a_client_that_left_before_it_was_accepted_has_gone(start):
    server = start()
    with server.raw() as client:
        client.send(handshake(target=b"/late/0.2/30"))
        server.wait_for_log("late")
        began = time.monotonic()
        client.half_close()
        assert_ends_by_grace(server, "WebSocket /late/0.2/30 of .*", began)


def test_a_client_that_ended_its_side_with_the_handshake_has_gone(start):
    server = start()
    with server.raw() as client:
        client.send(handshake(target=b"/late/0/30"))
        client.half_close()
        assert_ends_by_grace(server, "WebSocket /late/0/30 of .*", time.monotonic())


@HOW
def test_a_task_that_ends_in_time_is_let(start, go):
    server = start()
    with opened(server, "/told/0.1") as socket:
        go(socket)
        server.wait_for_log("stayed to the end")
    time.sleep(2 * GRACE)
    assert "goes on without" not in server.log() and "was cancelled" not in server.log()


def test_a_task_that_closed_by_itself_may_go_on(start):
    server = start()
    with opened(server, "/closing/1") as socket:
        socket.read_close()
        socket.send(close(1000))
        server.wait_for_log("stayed to the end")
    assert "goes on without" not in server.log()


def test_a_stop_gives_applications_its_own_time(start):
    server = start()
    with opened(server, "/told/1") as socket:
        server.signal(signal.SIGTERM)
        assert socket.read_close()[0] == 1001
        socket.send(close(1001))
        assert server.wait() == 0
    assert "stayed to the end" in server.log()


def test_a_client_that_stays_is_left_alone(start):
    server = start()
    with opened(server, "/deaf/1") as socket:
        socket.send(frame(TEXT, b"here"))
        server.wait_for_log("stayed to the end")
    assert "goes on without" not in server.log()


def test_without_a_grace_a_task_may_go_on(serve_asgi, loop):
    server = serve_asgi("ws_staying:app", "--loop", loop)
    with opened(server, "/told/1") as socket:
        socket.shut()
    server.wait_for_log("stayed to the end")
