"""Litestar, over real sockets."""

from __future__ import annotations

import json

from asgi.frameworks.contract import (
    SECONDS,
    Background,
    ClosedByTheClient,
    Http,
    Lifespan,
    WebSockets,
    curl,
    websocket,
)

APP = "litestar_app:app"


class TestLitestar(Http, Background, Lifespan, WebSockets, ClosedByTheClient):
    """What it shares with the others."""


def test_what_is_not_valid_is_told(client):
    answer = client.post("/items", json={"title": "tea"})
    assert answer.status_code == 400
    assert "price" in answer.text


def test_events_are_streamed(server):
    events = curl("--no-buffer", f"{server.url}/events").replace("\r\n", "\n").strip().split("\n\n")
    assert [event.splitlines() for event in events] == [
        [f"id: {number}", "event: count", f"data: number {number}"] for number in range(3)
    ]


def test_a_listener_takes_and_gives_json(server):
    with websocket(server, "/double") as connection:
        for number in range(3):
            connection.send(json.dumps({"n": number}))
            assert json.loads(connection.recv(SECONDS)) == {"n": 2 * number}
