"""Requests over their time while the event loop is blocked: their clients are answered in the place of the application."""

import re
import time

import pytest

from harness.metrics import metrics_once
from harness.request import get, head, post
from harness.waiting import until

TIMEOUT = 0.5


@pytest.fixture
def timed(serve_asgi, loop):
    """A function that starts a server with a short request-timeout, on each event loop."""

    def start(*args, **more):
        return serve_asgi("stuck:app", "--loop", loop, "--request-timeout", f"{TIMEOUT}s", *args, **more)

    return start


def expect_504(client, method="GET"):
    """The answer to a request over its time, which is the last of its connection."""
    response = client.read_response(method)
    assert response.status == 504 and response.closes
    assert client.is_closed()
    return response


def expect_504_for(server, target):
    """A request over its time, on a connection of its own."""
    with server.raw() as client:
        client.send(get(target=target))
        expect_504(client)


def expect_service(server):
    """The server goes on, when the loop is free."""
    until(lambda: server.get("/hello/x", timeout=10).status == 200, 10, "the loop is free")


@pytest.mark.parametrize("name", ["block", "block_later", "compute"])
def test_a_client_gets_504_while_the_loop_is_blocked(timed, name):
    server = timed("--access-log", "-")
    with server.raw() as client:
        began = time.monotonic()
        client.send(get(target=f"/{name}/3?secret=1".encode()))
        expect_504(client)
        assert TIMEOUT - 0.1 < time.monotonic() - began < 2
    server.wait_for_log(
        rf"\[ERROR\] GET /{name}/3 of 127\.0\.0\.1:\d+: runs for 0\.\d s, longer than request-timeout allows; "
        "the event loop is blocked, its client got 504"
    )
    server.wait_for_log(
        rf'the event loop is blocked for .*request-timeout.*\n(  .*\n)*  File ".*stuck.py", line \d+, in {name}'
    )
    expect_service(server)
    server.wait_for_log(rf'"GET /{name}/3\?secret=1 HTTP/1.1" 504 ')
    assert len(re.findall(f"GET /{name}/3.secret=1 HTTP", server.log())) == 1
    assert server.log().count(f"GET /{name}/3 of") == 1


def test_to_the_application_the_client_has_gone(timed):
    server = timed()
    with server.raw() as client:
        client.send(get(target=b"/block_and_tell/1.5") + get(target=b"/tells/next"))
        expect_504(client)
    server.wait_for_log("send raised OSError")
    server.wait_for_log("receive gave http.disconnect")
    expect_service(server)
    assert "ran next" not in server.log()
    assert "the application failed" not in server.log()


def test_requests_that_wait_for_the_loop_are_answered_and_never_run(timed):
    server = timed("--access-log", "-")
    with server.raw() as client, server.raw() as other:
        client.send(get(target=b"/block/2.5"))
        server.wait_for_log("blocking")
        other.send(get(target=b"/tells/other"))
        expect_504(client)
        expect_504(other)
    expect_service(server)
    server.wait_for_log('"GET /hello/x HTTP/1.1" 200')
    assert '"GET /tells/other HTTP/1.1" 504' in server.log()
    assert "ran other" not in server.log()


def test_a_task_that_goes_on_when_the_loop_is_free_is_cancelled(timed):
    server = timed("--request-timeout-grace", "300ms")
    expect_504_for(server, b"/block_and_wait/1")
    server.wait_for_log("GET /block_and_wait/1 of .*its task is cancelled")
    server.wait_for_log("wait was cancelled")
    expect_service(server)


def test_a_response_that_has_begun_is_left_alone(timed):
    server = timed()
    with server.raw() as client:
        client.send(get(target=b"/begin_and_block/1.5"))
        response = client.read_response()
        assert (response.status, response.body) == (200, b"first, last")
    assert "ERROR" not in server.log()


def test_the_answer_is_made_for_its_request(timed):
    server = timed("--request-id")
    with server.raw() as client:
        client.send(head(b"HEAD /block/1.2 HTTP/1.1", b"Host: test", b"X-Request-ID: its-own"))
        response = expect_504(client, "HEAD")
        assert response.all("x-request-id") == ["its-own"] and response.get("date")
    expect_service(server)


def test_a_client_with_a_body_under_way_gets_it_too(timed):
    server = timed()
    with server.raw() as plain, server.raw() as careful:
        plain.send(post(b"x" * 300_000, target=b"/block/1.5")[:200_000])
        server.wait_for_log("blocking")
        careful.send(head(b"POST /echo HTTP/1.1", b"Host: test", b"Content-Length: 4", b"Expect: 100-continue"))
        assert plain.read_response().status == 504
        assert careful.read_response().status == 504
    expect_service(server)


def test_a_websocket_that_was_not_accepted_in_time_is_refused(serve_asgi, loop):
    server = serve_asgi("ws_stuck:app", "--loop", loop, "--request-timeout", f"{TIMEOUT}s")
    with server.raw() as client:
        opening = (b"Upgrade: websocket", b"Connection: Upgrade", b"Sec-WebSocket-Version: 13")
        client.send(get(*opening, b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="))
        expect_504(client)
    server.wait_for_log("send raised OSError")
    server.wait_for_log("receive gave websocket.disconnect")


def test_it_is_counted_once(timed):
    server = timed("--metrics", "/metrics")
    expect_504_for(server, b"/block_and_tell/1.5")
    server.wait_for_log("receive gave")
    assert server.get("/hello/x").status == 200
    metrics = metrics_once(lambda: server.get("/metrics"), lambda metrics: metrics.value("requests_in_flight") == 0)
    assert metrics.value("requests_total", method="GET", status="5xx") == 1
    assert metrics.value("requests_total", method="GET", status="2xx") == 1
    assert metrics.value("timeouts_total", kind="request") == 1
