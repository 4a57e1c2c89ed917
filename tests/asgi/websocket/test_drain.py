"""WebSockets when their server is to end, or their worker is to be replaced."""

import json
import signal
import time

import pytest

from harness.response import Aborted
from harness.websocket import PING, TEXT, WebSocket, close, frame, handshake, opened

CLOSING = "ws_closing:app"


@pytest.fixture(params=[False, True], ids=["alone", "supervised"])
def server(request, serve_asgi, loop):
    return serve_asgi(CLOSING, "--loop", loop, supervised=request.param)


def test_a_drain_closes_with_1001_and_ends_when_clients_have_answered(server):
    with opened(server, "/listen") as socket, opened(server, "/listen") as other:
        started = time.monotonic()
        server.signal(signal.SIGTERM)
        for one in (socket, other):
            assert one.read_close()[0] == 1001
            one.send(close(1001))
            assert one.client.is_closed()
            one.client.close()
        assert server.wait(5) == 0
        assert time.monotonic() - started < 3
    ended = json.loads(server.wait_for_log(r"told ended (.*)").group(1))
    assert ended["type"] == "websocket.disconnect" and ended["code"] == 1001
    assert server.log().count("told ended") == 2


def test_messages_sent_before_the_drain_are_received(server):
    with opened(server, "/listen") as socket:
        socket.send(frame(TEXT, b"one"))
        server.wait_for_log('received "one"')
        server.signal(signal.SIGTERM)
        socket.send(frame(TEXT, b"two"))
        assert socket.read_close()[0] == 1001
    assert server.wait(5) == 0


CUT = "which are cut"
STOPS = pytest.mark.parametrize(
    ("number", "graceful"),
    [(signal.SIGTERM, "30s"), (signal.SIGTERM, "700ms"), (signal.SIGINT, "30s")],
    ids=["TERM", "TERM soon over", "INT"],
)


@STOPS
def test_a_client_that_does_not_answer_is_let_go_and_is_not_cut(serve_asgi, loop, number, graceful):
    server = serve_asgi(CLOSING, "--graceful-timeout", graceful, "--loop", loop)
    with opened(server, "/listen") as socket:
        started = time.monotonic()
        server.signal(number)
        assert socket.read_close()[0] == 1001
        assert server.wait(5) == 0
        assert time.monotonic() - started < 2.5
        with pytest.raises(Aborted):
            socket.read()
    assert CUT not in server.log()


def closed_by_the_client(socket):
    """The client closes, and has its answer."""
    socket.send(close(1000))
    assert socket.read_close()[0] == 1000


def closed_by_the_application(socket):
    """The application closes, and the client answers."""
    assert socket.read_close()[0] == 1000
    socket.send(frame(TEXT, bytes(1000)), frame(PING, b"still here"), close(1000)[:3])
    time.sleep(0.1)
    socket.send(close(1000)[3:])


@STOPS
@pytest.mark.parametrize(
    ("path", "closed"),
    [
        ("/listen", closed_by_the_client),
        ("/close/1000", closed_by_the_application),
    ],
    ids=["client", "application"],
)
def test_a_websocket_that_both_sides_have_closed_holds_no_stop(serve_asgi, loop, path, closed, number, graceful):
    server = serve_asgi(CLOSING, "--graceful-timeout", graceful, "--loop", loop)
    with opened(server, path) as socket:
        closed(socket)
        started = time.monotonic()
        server.signal(number)
        assert server.wait(5) == 0
        assert time.monotonic() - started < 0.8
    assert CUT not in server.log()


@STOPS
def test_a_client_that_broke_the_protocol_is_not_cut(serve_asgi, loop, number, graceful):
    server = serve_asgi(CLOSING, "--graceful-timeout", graceful, "--loop", loop)
    with opened(server, "/listen") as socket:
        socket.send(frame(3))
        assert socket.read_close()[0] == 1002
        started = time.monotonic()
        server.signal(number)
        assert server.wait(5) == 0
        # Nobody can tell what else it says: it has a second to have read the close frame.
        assert time.monotonic() - started < 2.5
    assert CUT not in server.log()


@STOPS
def test_a_client_that_answers_and_keeps_its_connection_holds_no_stop(serve_asgi, loop, number, graceful):
    server = serve_asgi(CLOSING, "--graceful-timeout", graceful, "--loop", loop)
    with opened(server, "/listen") as socket:
        started = time.monotonic()
        server.signal(number)
        assert socket.read_close()[0] == 1001
        socket.send(close(1001))
        assert server.wait(5) == 0
        assert time.monotonic() - started < 0.8
    assert CUT not in server.log()


def test_a_websocket_that_is_accepted_in_the_drain_is_closed_with_1001(serve_asgi, loop):
    server = serve_asgi("ws_staying:app", "--loop", loop)
    with server.raw() as client:
        client.send(handshake(target=b"/late/0.5/0.5"))
        server.wait_for_log("late")
        started = time.monotonic()
        server.signal(signal.SIGTERM)
        socket = WebSocket(client, client.read_response())
        assert socket.response.status == 101
        assert socket.read_close()[0] == 1001
        socket.send(close(1001))
        assert socket.client.is_closed()
        assert server.wait(5) == 0
        assert time.monotonic() - started < 3
    assert CUT not in server.log() and "stayed to the end" in server.log()


def test_an_application_that_does_not_look_is_cut_within_the_graceful_timeout(serve_asgi, loop):
    server = serve_asgi("ws_load:app", "--graceful-timeout", "1s", "--loop", loop)
    with opened(server, "/hold") as socket:
        server.wait_for_log("told holding")
        started = time.monotonic()
        server.signal(signal.SIGTERM)
        assert socket.read_close()[0] == 1001
        assert server.wait(5) in (0, 1)
        assert time.monotonic() - started < 3


def test_an_application_that_only_sends_ends_with_the_drain(server):
    with opened(server, "/chat") as socket:
        assert socket.read_message() == "tick"
        server.signal(signal.SIGTERM)
        while (came := socket.read()).opcode == TEXT:
            pass
        assert came.payload[:2] == (1001).to_bytes(2, "big")
    assert server.wait(5) == 0
    assert "OSError" in json.loads(server.wait_for_log(r"told raised (.*)").group(1))[0]


def test_a_signal_that_comes_while_the_loop_is_blocked_is_not_lost(serve_asgi, loop):
    server = serve_asgi("ws_load:app", "--loop", loop)
    with opened(server, "/block/1") as socket:
        socket.send(frame(TEXT, b"sleep"))
        server.wait_for_log("told blocking")
        server.signal(signal.SIGTERM)
        assert socket.read_message() == "awake"
        assert socket.read_close()[0] == 1001
    assert server.wait(5) == 0


def test_a_reload_moves_websockets_to_the_new_worker(serve_asgi, loop):
    server = serve_asgi(CLOSING, "--loop", loop, supervised=True)
    with opened(server, "/listen") as socket:
        server.signal(signal.SIGHUP)
        assert socket.read_close()[0] in (1001, 1012)
        with opened(server, "/listen") as successor:
            successor.send(frame(TEXT, b"again"))
            server.wait_for_log('received "again"')
            successor.shut()
        socket.send(close(1001))
        assert socket.client.is_closed()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGQUIT], ids=["INT", "QUIT"])
def test_other_ends_say_goodbye_too(serve_asgi, number):
    server = serve_asgi(CLOSING)
    with opened(server, "/listen") as socket:
        server.signal(number)
        assert socket.read_close()[0] == 1001
        socket.send(close(1001))
        assert server.wait(5) == 0
