"""How a WebSocket ends, by either side, and what the other one is told."""

import json

import pytest

from harness.websocket import CLOSE, TEXT, Frame, close, frame, opened

CLOSING = "ws_closing:app"


@pytest.fixture
def server(serve_asgi, loop):
    return serve_asgi(CLOSING, "--loop", loop)


def told(server, name):
    """What an application told, waiting for it."""
    return json.loads(server.wait_for_log(rf"told {name} (.*)").group(1))


def test_a_close_of_the_client_is_told_with_code_and_reason(server):
    with opened(server, "/listen") as socket:
        socket.send(frame(TEXT, b"one"), frame(TEXT, b"two"), close(4001, "schön".encode()))
        assert socket.is_failed_with(4001)
    assert told(server, "ended") == {"type": "websocket.disconnect", "code": 4001, "reason": "schön"}
    assert [line for line in server.log().splitlines() if "received" in line] == [
        'told received "one"',
        'told received "two"',
    ]


def test_a_close_without_a_code_is_told_as_1005(server):
    with opened(server, "/listen") as socket:
        socket.send(frame(CLOSE))
        assert socket.read().opcode == CLOSE
    assert told(server, "ended")["code"] == 1005


@pytest.mark.parametrize("ending", ["close", "half_close", "reset"])
def test_an_end_without_a_close_frame_is_told_as_1006(server, ending):
    with opened(server, "/listen") as socket:
        socket.send(frame(TEXT, b"last words"))
        server.wait_for_log("told received")
        getattr(socket.client, ending)()
        assert told(server, "ended")["code"] == 1006


def test_an_end_within_a_frame_is_told_as_1006_without_it(server):
    with opened(server, "/listen") as socket:
        socket.send(frame(TEXT, b"whole"), frame(TEXT, b"never whole")[:-3])
        server.wait_for_log("told received")
    assert told(server, "ended")["code"] == 1006
    assert "never" not in server.log()


def test_a_client_that_breaks_the_protocol_is_told_as_gone(server):
    with opened(server, "/listen") as socket:
        socket.send(frame(3))
        assert socket.is_failed_with(1002)
    assert told(server, "ended")["code"] in (1002, 1006)


def test_receive_after_the_end_neither_hangs_nor_gives_a_message(server):
    with opened(server, "/twice") as socket:
        socket.shut()
    ended, raised = told(server, "ended"), told(server, "raised")
    assert ended["code"] == 1000
    assert raised is None or "TimeoutError" not in raised[0]


def test_send_after_the_client_has_closed_raises_oserror(server):
    with opened(server, "/late") as socket:
        socket.shut()
    kinds, text = told(server, "raised")
    assert "OSError" in kinds and text


def test_send_after_the_client_has_gone_raises_oserror(server):
    with opened(server, "/late") as socket:
        socket.client.reset()
    kinds, text = told(server, "raised")
    assert "OSError" in kinds and text


def test_an_application_that_only_sends_learns_that_the_client_has_gone(server):
    with opened(server, "/chat") as socket:
        assert socket.read_message() == "tick"
    assert "OSError" in told(server, "raised")[0]


def test_an_application_that_only_sends_learns_that_the_client_has_closed(server):
    with opened(server, "/chat") as socket:
        assert socket.read_message() == "tick"
        socket.shut(1001)
    assert "OSError" in told(server, "raised")[0]


@pytest.mark.parametrize(
    ("path", "code", "reason"), [("/close/", 1000, ""), ("/close/1000", 1000, ""), ("/close/4002/ciao", 4002, "ciao")]
)
def test_the_application_closes(server, path, code, reason):
    with opened(server, path) as socket:
        assert socket.read_close() == (code, reason)
        socket.send(close(code))
        assert socket.client.is_closed()
    assert told(server, "ended")["type"] == "websocket.disconnect"
    assert told(server, "ended")["code"] == code
    assert told(server, "raised") is not None


def test_a_long_reason_is_cut_between_characters(server):
    with opened(server, "/close/1000/" + "%C3%A9" * 100) as socket:
        assert socket.read_close() == (1000, "é" * 61)


def test_a_client_that_does_not_answer_a_close_is_let_go(serve_asgi):
    server = serve_asgi(CLOSING, "--linger-timeout", "300ms")
    with opened(server, "/close/1000") as socket:
        assert socket.read_close() == (1000, "")
        assert socket.client.is_closed()
    assert told(server, "ended")["code"] in (1000, 1006)


def test_what_a_client_still_sends_after_the_close_of_the_server_is_dropped(server):
    with opened(server, "/close/1000") as socket:
        assert socket.read_close() == (1000, "")
        socket.send(*[frame(TEXT, b"too late")] * 100, close(1000))
        assert socket.client.is_closed()
    assert told(server, "ended")["type"] == "websocket.disconnect"


def test_an_application_that_fails_closes_with_1011_and_is_logged(server):
    with opened(server, "/fail") as socket:
        code, reason = socket.read_close()
        assert code == 1011 and "purpose" not in reason
        socket.send(close(1011))
        assert socket.client.is_closed()
    server.wait_for_log("RuntimeError: this view fails on purpose")
    assert "Traceback" in server.log() and "ws_closing.py" in server.log()


def test_an_application_that_returns_closes_with_1000(server):
    with opened(server, "/leave") as socket:
        assert socket.read() == Frame(CLOSE, b"\x03\xe8")
        socket.send(close(1000))
        assert socket.client.is_closed()


def test_both_sides_may_close_at_once(server):
    with opened(server, "/close/4002", then=close(4001)) as socket:
        assert socket.read_close()[0] in (4001, 4002)
        assert socket.client.is_closed()
    assert told(server, "ended")["type"] == "websocket.disconnect"
