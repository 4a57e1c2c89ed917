"""What requests of one connection have in common is remembered: none of it may pass from one to the next by mistake."""

from pathlib import Path

import pytest

from harness.request import get, head, post

APPS = Path(__file__).parent / "apps"


@pytest.fixture
def client(serve):
    """A connection to the application that changes its environ."""
    with serve("intruder:app", app_dir=APPS).raw() as client:
        yield client


def environ(client, request):
    """The environ that the application saw."""
    return client.ask(request).json()["environ"]


def test_equal_requests_have_equal_environs(client):
    first, *others = [environ(client, get(b"X-A: 1", b"Cookie: a=b")) for _ in range(5)]
    assert all(other == first for other in others)
    assert (first["HTTP_X_A"], first["HTTP_COOKIE"], first["PATH_INFO"]) == ("1", "a=b", "/")


def test_the_target_and_the_method_are_of_each_request(client):
    for target in [b"/", b"/a?b=c", b"/%20", b"/", b"/d", b"/d?"]:
        seen = environ(client, get(b"X-A: 1", target=target))
        path, _, query = target.decode().partition("?")
        assert (seen["RAW_URI"], seen["QUERY_STRING"], seen["REQUEST_METHOD"]) == (target.decode(), query, "GET")
        assert seen["PATH_INFO"] == path.replace("%20", " ")
        assert (
            environ(client, head(b"DELETE " + target + b" HTTP/1.1", b"Host: test", b"X-A: 1"))["REQUEST_METHOD"]
            == "DELETE"
        )


def test_fields_come_and_go_with_their_request(client):
    requests = [get(b"X-A: 1"), get(b"X-A: 1"), get(b"X-A: 1"), get(b"X-B: 2"), get(b"X-A: 3"), get(), get(b"X-A: 1")]
    fields = [
        {key: seen[key] for key in ("HTTP_X_A", "HTTP_X_B") if key in seen}
        for seen in (environ(client, r) for r in requests)
    ]
    one = {"HTTP_X_A": "1"}
    assert fields == [one, one, one, {"HTTP_X_B": "2"}, {"HTTP_X_A": "3"}, {}, one]


def test_an_absolute_target_brings_its_own_host(client):
    hosts = [b"/", b"http://one/", b"http://two/", b"http://two/", b"http://two/x", b"/", b"/"]
    seen = [environ(client, get(target=target, host=b"test"))["HTTP_HOST"] for target in hosts]
    assert seen == ["test", "one", "two", "two", "two", "test", "test"]


def test_bodies_are_of_each_request(client):
    for body in [b"one", b"two", b"six", b"seven", b"eight"]:
        seen = client.ask(post(body)).json()
        assert (seen["body"], seen["environ"]["CONTENT_LENGTH"]) == (body.decode(), str(len(body)))
    assert "CONTENT_LENGTH" not in environ(client, get())


def test_the_version_is_of_each_request(serve):
    server = serve("intruder:app", app_dir=APPS)
    for version in [b"1.0", b"1.1", b"1.0", b"1.0"]:
        with server.raw() as client:
            request = head(b"GET / HTTP/" + version, b"Host: test", b"Connection: close")
            assert environ(client, request)["SERVER_PROTOCOL"] == f"HTTP/{version.decode()}"


def test_the_peer_is_of_each_connection(serve):
    server = serve("intruder:app", app_dir=APPS)
    for _ in range(20):
        with server.raw() as client:
            port = client.socket.getsockname()[1]
            assert [environ(client, get())["REMOTE_PORT"] for _ in range(3)] == [str(port)] * 3
