"""What becomes of a response: how its body is delimited, what the server adds and drops, and applications that fail."""

import pytest

from harness.request import get, head
from harness.response import Aborted

PIECES = b"one two three"


@pytest.fixture
def server(share_asgi):
    """The application with a response per path."""
    return share_asgi("responses:app")


@pytest.fixture
def loops(share_asgi, loop):
    """The same, on each event loop."""
    return share_asgi("responses:app", "--loop", loop)


@pytest.mark.parametrize("name", ["whole", "length/13", "length_in_pieces/13", "unfinished_whole"])
def test_a_body_of_known_length_carries_it(loops, name):
    response = loops.get(f"/{name}")
    assert (response.framing, response.get("content-length"), response.body) == ("length", "13", PIECES)


@pytest.mark.parametrize("name", ["generator", "generator_ending_full", "coded"])
def test_a_body_of_unknown_length_is_chunked(loops, name):
    with loops.raw() as client:
        for _ in range(3):
            response = client.ask(get(target=f"/{name}".encode()))
            assert (response.framing, response.body) == ("chunked", PIECES)


@pytest.mark.parametrize("name", ["generator", "generator_ending_full", "coded"])
def test_a_body_of_unknown_length_ends_with_the_connection_in_http_1_0(server, name):
    with server.raw() as client:
        client.send(head(f"GET /{name} HTTP/1.0".encode(), b"Connection: keep-alive"))
        (response,) = client.read_to_end()
    assert (response.framing, response.body, response.all("transfer-encoding")) == ("close", PIECES, [])


def test_http_1_0_is_kept_alive_when_it_asks_and_the_length_is_known(server):
    with server.raw() as client:
        for _ in range(3):
            response = client.ask(head(b"GET /whole HTTP/1.0", b"Connection: keep-alive"))
            assert (response.body, response.get("connection")) == (PIECES, "keep-alive")
        client.send(head(b"GET /whole HTTP/1.0"))
        assert [one.body for one in client.read_to_end()] == [PIECES]


@pytest.mark.parametrize("name", ["whole", "generator", "length/13", "length_in_pieces/13", "fail_before", "silent"])
def test_head_gets_the_fields_of_get_and_no_body(server, name):
    request = head(f"HEAD /{name} HTTP/1.1".encode(), b"Host: test")
    with server.raw() as client:
        response = client.ask(request, "HEAD")
        assert response.body == b""
        if response.status == 200:
            assert response.get("content-length") in ("13", None)
            assert client.ask(get(target=b"/whole")).body == PIECES


@pytest.mark.parametrize("code", [204, 205, 304])
@pytest.mark.parametrize("name", ["status", "unsized"])
def test_statuses_without_a_body_have_none_and_the_connection_goes_on(server, name, code):
    with server.raw() as client:
        response = client.ask(get(target=f"/{name}/{code}".encode()))
        assert (response.status, response.body) == (code, b"")
        assert client.ask(get(target=b"/whole")).body == PIECES


@pytest.mark.parametrize(
    "name",
    [
        "length/20",
        "length_in_pieces/20",
        "length_written/20",
        "unfinished/",
        "unfinished/13",
        "fail_after/",
        "fail_after/13",
    ],
)
def test_a_body_that_ends_too_early_never_looks_whole(loops, name):
    with loops.raw() as client:
        client.send(get(target=f"/{name}".encode()))
        with pytest.raises(Aborted):
            assert client.read_response().status == 500
            raise Aborted(None, b"")
    assert loops.get("/whole").body == PIECES


@pytest.mark.parametrize(
    "name", ["length/6", "length_in_pieces/6", "length_written/6", "length/0", "length_in_pieces/0"]
)
def test_what_exceeds_the_length_is_not_sent(server, name):
    with server.raw() as client:
        client.send(get(target=f"/{name}".encode()) + get(b"Connection: close", target=b"/after"))
        first, *rest = client.read_to_end()
    assert first.status == 500 or first.body == PIECES[: int(name[-1])]
    assert [one.body for one in rest] in ([], [b"/after"])


@pytest.mark.parametrize(
    "name",
    [
        "silent",
        "only_start",
        "fail_before",
        "fail_unsent",
        "exits/SystemExit",
        "exits/KeyboardInterrupt",
        "exits/GeneratorExit",
        "exits_later/SystemExit",
        "exits_later/KeyboardInterrupt",
        "cancelled",
    ],
)
def test_an_application_without_a_response_is_a_plain_500_and_the_process_lives(loops, name):
    response = loops.get(f"/{name}")
    assert response.status == 500
    assert b"secret" not in response.body and b"Traceback" not in response.body
    loops.wait_for_log(rf"GET /{name}: ")
    assert loops.get("/whole").body == PIECES


def test_the_log_has_the_traceback_of_what_the_application_raised(server):
    server.get("/fail_before")
    server.wait_for_log("RuntimeError: failed before the head, secret-detail")
    assert "Traceback (most recent call last):\n" in server.log()
    assert 'raise RuntimeError("failed before the head, secret-detail")' in server.log()


def test_an_application_that_returns_without_a_response_is_told_what_it_has_to_send(server):
    server.get("/silent")
    assert "http.response.start" in server.wait_for_log("GET /silent: (.*)")[1]
    server.get("/only_start")
    assert "http.response.body" in server.wait_for_log("GET /only_start: (.*)")[1]


def test_date_and_server_come_once_unless_the_application_sets_them(server):
    response = server.get("/whole")
    assert len(response.all("date")) == 1 and len(response.all("server")) == 1
    response = server.get("/own_fields")
    assert response.all("date") == ["Sun, 06 Nov 1994 08:49:37 GMT"] and response.all("server") == ["mine"]


def test_close_of_the_application_is_honoured(server):
    with server.raw() as client:
        client.send(get(target=b"/closing") + get(target=b"/whole"))
        (response,) = client.read_to_end()
    assert response.closes and response.body == PIECES


def test_close_of_the_client_is_honoured(server):
    with server.raw() as client:
        client.send(get(b"Connection: close", target=b"/whole") + get(target=b"/whole"))
        (response,) = client.read_to_end()
    assert response.closes and response.body == PIECES


def test_pipelined_requests_are_answered_in_order_whatever_they_do(loops):
    names = [
        "whole",
        "generator",
        "silent",
        "status/204",
        "length/13",
        "generator_ending_full",
        "unsized/304",
        "fail_before",
    ]
    with loops.raw() as client:
        client.send(b"".join(get(target=f"/{name}".encode()) for name in names))
        statuses = []
        for _ in names:
            statuses.append(client.read_response().status)
            if statuses[-1] == 500 and client.is_closed():
                break
    assert statuses == [200, 200, 500, 204, 200, 200, 304, 500][: len(statuses)] and len(statuses) in (3, len(names))


def test_a_hundred_requests_share_a_connection(loops):
    with loops.raw() as client:
        for turn in range(100):
            name = ["whole", "generator", "length/13"][turn % 3]
            assert client.ask(get(target=f"/{name}".encode())).body == PIECES
