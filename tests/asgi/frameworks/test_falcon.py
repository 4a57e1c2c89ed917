"""Falcon's ASGI side, over real sockets."""

from __future__ import annotations

from asgi.frameworks.contract import Background, ClosedByTheClient, Http, Lifespan, WebSockets, curl

APP = "falcon_app:app"


class TestFalcon(Http, Background, Lifespan, WebSockets, ClosedByTheClient):
    """What it shares with the others; it is not told reasons."""

    NOTED = "websocket 4111"


def test_events_are_streamed(server):
    events = curl("--no-buffer", f"{server.url}/events").strip().split("\n\n")
    assert [event.splitlines() for event in events] == [
        ["event: count", f"id: {number}", f"data: number {number}"] for number in range(3)
    ]
