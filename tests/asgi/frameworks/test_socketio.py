"""python-socketio, by its own client: long polling, WebSocket, and the change from one to the other."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import socketio

from asgi.frameworks.contract import SECONDS
from harness.waiting import until

APP = "socketio_app:app"
TRANSPORTS = {"polling": ["polling"], "websocket": ["websocket"], "upgraded": ["polling", "websocket"]}


@pytest.fixture
def visit(server) -> Iterator[Callable[..., socketio.SimpleClient]]:
    """A function that gives a connected client: `visit(transports, auth=None)`."""
    clients = []

    def visit(transports: str, auth: Any = None) -> socketio.SimpleClient:
        clients.append(socketio.SimpleClient(reconnection=False))
        clients[-1].connect(server.url, auth=auth, transports=TRANSPORTS[transports], wait_timeout=SECONDS)
        return clients[-1]

    yield visit
    for client in clients:
        disconnect(client)


def disconnect(client: socketio.SimpleClient) -> None:
    """Says goodbye. A client that polls then waits for the end of its last poll, for which nobody has to wait."""
    threading.Thread(target=client.disconnect, daemon=True).start()


@pytest.mark.parametrize("transports", TRANSPORTS)
def test_events_come_back(visit, transports):
    client = visit(transports)
    for data in ["text", {"a": ["ü", 1, None]}, b"\x00\xff", "x" * 20_000]:
        client.emit("echo", data)
        assert client.receive(SECONDS) == ["echoed", data]
    assert client.transport == ("polling" if transports == "polling" else "websocket")


@pytest.mark.parametrize("transports", TRANSPORTS)
def test_a_call_is_acknowledged(visit, transports):
    client = visit(transports)
    assert [client.call("add", (number, 1), timeout=SECONDS) for number in range(5)] == [1, 2, 3, 4, 5]


def test_a_room_hears_what_one_says_whatever_its_transports(visit):
    members = {transports: visit(transports) for transports in TRANSPORTS}
    outside = visit("websocket")
    for member in members.values():
        member.call("join", "lobby", timeout=SECONDS)
    members["polling"].emit("say", ("lobby", "hello"))
    assert [member.receive(SECONDS) for member in members.values()] == [["said", "hello"]] * 3
    with pytest.raises(socketio.exceptions.TimeoutError):
        outside.receive(0.1)


@pytest.mark.parametrize("transports", TRANSPORTS)
def test_the_end_of_a_session_is_noticed(visit, transports):
    client, other = visit(transports), visit("websocket")
    sid = client.sid
    assert not other.call("has_ended", sid, timeout=SECONDS)
    disconnect(client)
    until(lambda: other.call("has_ended", sid, timeout=SECONDS), what="the end of the session")


def test_a_client_is_refused(visit):
    with pytest.raises(socketio.exceptions.ConnectionError):
        visit("websocket", auth="nobody")
