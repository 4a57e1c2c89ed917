"""Applications that go on when their client has gone: for as long as disconnect-grace says, and no other task is hit."""

import time

import pytest

from harness.grace import GRACE, SHORT_GRACE, assert_ends_by_grace
from harness.request import get, head


@pytest.fixture
def start(serve_asgi, loop):
    """A function that starts the application with a short grace, on each event loop."""

    def serve(*args):
        return serve_asgi("staying:app", "--loop", loop, *SHORT_GRACE, *args)

    return serve


def leave(client, how):
    """Ends the connection with FIN or RST."""
    client.reset() if how == "RST" else client.close()


HOW = pytest.mark.parametrize("how", ["FIN", "RST"])


@HOW
@pytest.mark.parametrize(("name", "begun"), [("deaf", "deaf stays"), ("told", "received"), ("sending", "sending")])
def test_a_task_that_goes_on_is_cancelled(start, name, begun, how):
    server = start()
    with server.raw() as client:
        client.send(get(target=f"/{name}/30".encode()))
        server.wait_for_log(begun)
        began = time.monotonic()
        leave(client, how)
        assert_ends_by_grace(server, f"GET /{name}/30 of .*", began)


def test_a_client_that_takes_nothing_has_gone(start):
    server = start("--write-timeout", "500ms")
    with server.raw(receive_buffer=4096) as client:
        client.send(get(target=b"/pouring/30"))
        assert_ends_by_grace(server, "GET /pouring/30 of .*", time.monotonic())


def test_a_client_that_resets_its_upload_has_gone(start):
    server = start()
    with server.raw() as client:
        client.send(head(b"GET /told/30 HTTP/1.1", b"Host: test", b"Content-Length: 10") + b"half")
        server.wait_for_log("received")
        began = time.monotonic()
        client.reset()
        assert_ends_by_grace(server, "GET /told/30 of .*", began)


def test_a_task_behind_its_answer_may_go_on(start):
    server = start()
    with server.raw() as client:
        assert client.ask(get(target=b"/outlasting/1")).body == b"answered"
    server.wait_for_log("outlasting stayed to the end")
    assert "goes on without" not in server.log()


@pytest.mark.parametrize("target", [b"/deaf/30", b"/outlasting/1"])
def test_a_request_that_waits_for_the_loop_leaves_the_task_before_it_alone(start, target):
    server = start("--request-timeout", "0")
    with server.raw() as client, server.raw() as other:
        assert client.ask(get(target=b"/outlasting/3")).body == b"answered"
        other.send(get(target=b"/block/1.5"))
        server.wait_for_log("blocking")
        client.send(get(target=target))
        # Another thread has read it by then: it waits for the loop, and is not half-closed.
        assert client.is_silent(0.3)
        client.reset()
        assert other.read_response().body == b"blocked"
        freed = time.monotonic()
        if target == b"/deaf/30":
            # Its time begins when it does.
            server.wait_for_log("deaf was cancelled")
            assert GRACE - 0.1 < time.monotonic() - freed < 2
        server.wait_for_log("outlasting stayed to the end")
    assert "outlasting was cancelled" not in server.log()
    assert "GET /outlasting/3 of" not in server.log()


@pytest.mark.parametrize("later", [False, True], ids=["at once", "later"])
def test_a_client_that_half_closes_while_its_request_waits_for_the_loop_gets_its_answer(start, later):
    server = start("--request-timeout", "0")
    with server.raw() as client, server.raw() as other:
        other.send(get(target=b"/block/1.5"))
        server.wait_for_log("blocking")
        client.send(get(target=b"/late/1"))
        # Later, another thread has read the request by then.
        assert not later or client.is_silent(0.3)
        client.half_close()
        assert other.read_response().body == b"blocked"
        assert client.read_response().body == b"late"
    assert "goes on without" not in server.log() and "ERROR" not in server.log()
