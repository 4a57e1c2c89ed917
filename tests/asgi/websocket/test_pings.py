"""Pings: the server's own, and those of clients while the application is busy."""

import json
import time

import pytest

from harness.websocket import BINARY, CLOSE, PING, PONG, TEXT, Frame, frame, opened


@pytest.fixture
def pinging(serve_asgi, loop):
    """A server that pings every 200 ms and waits for the answer for 300 ms."""
    return serve_asgi("ws_closing:app", "--ws-ping-interval", "200ms", "--ws-ping-timeout", "300ms", "--loop", loop)


def test_a_client_that_answers_pings_stays(pinging):
    with opened(pinging, "/listen") as socket:
        started = time.monotonic()
        for _ in range(6):
            ping = socket.read()
            assert ping.opcode == PING
            socket.send(frame(PONG, ping.payload))
        assert 0.9 < time.monotonic() - started < 4
        socket.send(frame(TEXT, b"alive"))
        pinging.wait_for_log('told received "alive"')
        assert "told ended" not in pinging.log()


def test_a_client_that_does_not_answer_a_ping_is_closed(pinging):
    with opened(pinging, "/listen") as socket:
        started = time.monotonic()
        while (came := socket.read()).opcode == PING:
            pass
        assert (came.opcode, came.payload[:2]) == (CLOSE, (1011).to_bytes(2, "big"))
        assert 0.4 < time.monotonic() - started < 3
        assert socket.client.is_closed()
    ended = json.loads(pinging.wait_for_log(r"told ended (.*)").group(1))
    assert ended["type"] == "websocket.disconnect" and ended["code"] in (1006, 1011)


def test_a_client_that_is_just_sending_a_large_message_stays(pinging):
    with opened(pinging, "/listen") as socket:
        socket.send(frame(BINARY, bytes(40_000))[:-30_000])
        for _ in range(15):
            time.sleep(0.08)
            socket.send(bytes(1000))
        assert "told ended" not in pinging.log()


def test_pings_can_be_turned_off(serve_asgi):
    server = serve_asgi(
        "ws_closing:app", "--ws-ping-interval", "0", "--ws-ping-timeout", "100ms", "--keep-alive", "200ms"
    )
    with opened(server, "/listen") as socket:
        assert socket.client.is_silent(1.0)
        socket.shut()


def test_an_idle_websocket_outlives_the_deadlines_of_http(serve_asgi):
    deadlines = [
        "--keep-alive",
        "200ms",
        "--head-timeout",
        "200ms",
        "--body-timeout",
        "200ms",
        "--write-timeout",
        "200ms",
    ]
    server = serve_asgi("ws_load:app", *deadlines, "--request-timeout", "300ms", "--request-timeout-grace", "100ms")
    with opened(server, "/echo") as socket:
        assert socket.client.is_silent(1.2)
        socket.send(frame(TEXT, b"still here"))
        assert socket.read_message() == "still here"
        socket.shut()


def test_pings_are_answered_while_the_loop_is_blocked(serve_asgi, loop):
    server = serve_asgi("ws_load:app", "--loop", loop)
    with opened(server, "/echo") as socket, opened(server, "/block/1.5") as blocking:
        blocking.send(frame(TEXT, b"sleep"))
        server.wait_for_log("told blocking")
        started = time.monotonic()
        for number in range(10):
            socket.send(frame(PING, b"%d" % number))
            assert socket.read() == Frame(PONG, b"%d" % number)
        assert time.monotonic() - started < 0.5
        socket.send(frame(TEXT, b"and then"))
        assert blocking.read_message() == "awake"
        assert socket.read_message() == "and then"


def test_pings_of_the_server_go_on_while_the_loop_is_blocked(serve_asgi, loop):
    server = serve_asgi("ws_load:app", "--ws-ping-interval", "100ms", "--ws-ping-timeout", "300ms", "--loop", loop)
    with opened(server, "/echo") as socket, opened(server, "/block/1.5") as blocking:
        blocking.send(frame(TEXT, b"sleep"))
        server.wait_for_log("told blocking")
        deadline = time.monotonic() + 1
        while time.monotonic() < deadline:
            ping = socket.read()
            assert ping.opcode == PING
            socket.send(frame(PONG, ping.payload))
        socket.send(frame(TEXT, b"still here"))
        assert socket.read_message() == "still here"
