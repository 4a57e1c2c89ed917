"""A WSGI application under a2wsgi, over real sockets."""

from __future__ import annotations

from asgi.frameworks.contract import Http

APP = "a2wsgi_app:app"


class TestA2wsgi(Http):
    """What it shares with the others."""


def test_the_environ_is_made_of_the_scope(server, client):
    environ = client.get("/environ?a=1", headers={"x-name": "value"}).json()
    assert environ["QUERY_STRING"] == "a=1"
    assert environ["HTTP_X_NAME"] == "value"
    assert (environ["SERVER_NAME"], environ["SERVER_PORT"]) == (server.host, str(server.port))
    assert environ["REMOTE_ADDR"] == "127.0.0.1"
    assert environ["wsgi.url_scheme"] == "http"
