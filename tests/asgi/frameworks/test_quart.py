"""Quart, over real sockets."""

from __future__ import annotations

import pytest
from websockets.exceptions import InvalidStatus

from asgi.frameworks.contract import Background, ClosedByTheClient, Http, Lifespan, WebSockets, websocket

APP = "quart_app:app"


class TestQuart(Http, Background, Lifespan, WebSockets, ClosedByTheClient):
    """What it shares with the others."""

    NOTED = "websocket cancelled"
    # Quart takes empty bytes for a message without bytes.
    MESSAGES = [message for message in WebSockets.MESSAGES if message != b""]


def test_a_view_on_a_thread_answers(client):
    assert client.get("/thread").json() == {"method": "GET"}


def test_a_body_over_its_limit_is_refused(client):
    pieces = (b"x" * 1024 * 1024 for _ in range(5))
    form = {"content-type": "application/x-www-form-urlencoded"}
    assert client.post("/form", content=pieces, headers=form).status_code == 413


def test_a_websocket_is_denied_with_a_status(server):
    with pytest.raises(InvalidStatus) as refused:
        websocket(server, "/denied")
    assert refused.value.response.status_code == 401
