"""Starlette, over real sockets."""

from __future__ import annotations

import pytest
from websockets.exceptions import InvalidStatus

from asgi.frameworks.contract import SECONDS, Background, ClosedByTheClient, Http, Lifespan, WebSockets, done, websocket
from harness.waiting import until

APP = "starlette_app:app"


class TestStarlette(Http, Background, Lifespan, WebSockets, ClosedByTheClient):
    """What it shares with the others."""


def test_a_file_is_left_to_the_server(client, served_file):
    assert client.get("/file").content == served_file.read_bytes()
    assert client.get("/sent").json() == ["http.response.start", "http.response.pathsend"]


def test_parts_of_a_file_are_sent(client, served_file):
    content = served_file.read_bytes()
    part = client.get("/file", headers={"range": "bytes=1000-200999"})
    assert (part.status_code, part.content) == (206, content[1000:201_000])
    several = client.get("/file", headers={"range": "bytes=0-9,100-109"})
    assert several.headers["content-type"].startswith("multipart/byteranges")
    assert content[100:110] in several.content
    assert client.head("/file").headers["content-length"] == str(len(content))
    assert client.get("/file").content == content


def test_a_stream_ends_when_nobody_reads_it(client):
    with client.stream("GET", "/endless") as response:
        assert next(response.iter_raw()).startswith(b"piece")
    until(lambda: "the endless stream has ended" in done(client), what="the end of the stream")


def test_a_middleware_of_functions_sees_every_request(client):
    assert client.get("/stream/3").headers["x-stamp"] == "/stream/3"
    assert client.post("/json", json=[1]).headers["x-stamp"] == "/json"


def test_a_websocket_is_denied_with_a_response(server):
    with pytest.raises(InvalidStatus) as refused:
        websocket(server, "/denied")
    response = refused.value.response
    assert (response.status_code, response.headers["x-why"]) == (401, "no token")
    assert response.body == b'{"error":"not you"}'


def test_a_ping_is_answered(server):
    with websocket(server, "/echo") as connection:
        assert connection.ping(b"are you there").wait(SECONDS)
