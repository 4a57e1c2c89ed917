"""Django with Channels, over real sockets."""

from __future__ import annotations

import contextlib
import json

import pytest
from websockets.exceptions import InvalidStatus

from asgi.frameworks.contract import SECONDS, Background, ClosedByTheClient, Http, WebSockets, done, websocket
from harness.waiting import until

APP = "django_app:app"


class TestDjango(Http, Background, WebSockets, ClosedByTheClient):
    """What it shares with the others; it knows no lifespan."""

    NOTED = "websocket 4111"


def test_a_view_is_cancelled_when_its_client_has_gone(server, client):
    with server.raw() as gone:
        gone.send(b"GET /patient HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        until(lambda: "the patient one waits" in done(client), what="the view")
    until(lambda: "the patient one was cancelled" in done(client), what="the cancellation")


def test_a_group_hears_what_one_says(server):
    with contextlib.ExitStack() as stack:
        members = [stack.enter_context(websocket(server, "/group")) for _ in range(5)]
        assert [json.loads(member.recv(SECONDS)) for member in members] == ["welcome"] * 5
        for number, member in enumerate(members):
            member.send(json.dumps({"from": number}))
            assert [json.loads(other.recv(SECONDS)) for other in members] == [{"from": number}] * 5


def test_a_websocket_is_refused(server):
    with pytest.raises(InvalidStatus) as refused:
        websocket(server, "/denied")
    assert refused.value.response.status_code == 403
