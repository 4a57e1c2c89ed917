"""FastAPI, over real sockets."""

from __future__ import annotations

import json

from asgi.frameworks.contract import SECONDS, Background, ClosedByTheClient, Http, Lifespan, WebSockets, done, websocket
from harness.waiting import until

APP = "fastapi_app:app"


class TestFastapi(Http, Background, Lifespan, WebSockets, ClosedByTheClient):
    """What it shares with the others."""


def test_what_is_not_valid_is_told(client):
    answer = client.post("/items", json={"title": "tea"})
    assert answer.status_code == 422
    assert answer.json()["detail"][0]["loc"] == ["body", "price"]


def test_a_dependency_is_left_when_the_request_is_over(client):
    before = done(client).count("the session is closed")
    item = {"title": "tea", "price": 2.5}
    assert client.post("/items", json=item).json() == {"item": item, "session": "a session"}
    until(lambda: done(client).count("the session is closed") == before + 1, what="the end of the dependency")


def test_a_view_that_looks_notices_that_its_client_has_gone(server, client):
    with server.raw() as gone:
        gone.send(b"GET /patient HTTP/1.1\r\nHost: test\r\n\r\n")
        assert client.get("/").status_code == 200
    until(lambda: "the patient one has noticed" in done(client), what="the disconnect")


def test_an_error_of_http_has_its_status_and_fields(client):
    answer = client.get("/teapot")
    assert (answer.status_code, answer.headers["x-pot"]) == (418, "tea")
    assert answer.json() == {"detail": "short and stout"}


def test_it_describes_itself(client):
    assert "/items" in client.get("/openapi.json").json()["paths"]
    assert "swagger" in client.get("/docs").text


def test_a_websocket_takes_and_gives_json(server, client):
    with websocket(server, "/json") as connection:
        connection.send('{"a": 1}')
        assert json.loads(connection.recv(SECONDS)) == {"you sent": {"a": 1}}
        connection.close(4000)
    until(lambda: "json 4000" in done(client), what="the disconnect")
