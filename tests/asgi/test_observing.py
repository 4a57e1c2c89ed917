"""What operators see of ASGI requests: the access log, the metrics, limits."""

import contextlib
import json
import time

import pytest

from harness.metrics import metrics_once
from harness.request import get, head, post
from harness.waiting import until


@pytest.fixture
def logged(serve_asgi, loop, tmp_path):
    """A server with an access log in JSON, and a function that gives its lines once there are so many."""
    path = tmp_path / "access"
    server = serve_asgi("bodies:app", "--loop", loop, "--access-log", str(path), "--access-log-format", "json")

    def lines(count):
        until(lambda: len(path.read_text().splitlines()) >= count)
        return [json.loads(line) for line in path.read_text().splitlines()]

    return server, lines


def test_each_request_has_its_line(logged):
    server, lines = logged
    with server.raw() as client:
        client.ask(post(b"hello", target=b"/echo"))
        client.ask(get(target=b"/late/0.2?a=b"))
        client.ask(head(b"HEAD /none HTTP/1.1", b"Host: test"), "HEAD")
        client.ask(get(target=b"/answer_first"))
    shown = [(one["method"], one["path"], one["status"], one["bytes"]) for one in lines(4)]
    assert shown == [
        ("POST", "/echo", 200, 5),
        ("GET", "/late/0.2", 200, 0),
        ("HEAD", "/none", 200, 0),
        ("GET", "/answer_first", 200, 7),
    ]
    assert 0.2 <= lines(4)[1]["duration"] < 1
    assert lines(4)[0]["duration"] < 0.2


def test_a_request_that_fails_and_one_whose_client_goes_have_lines(logged):
    server, lines = logged
    assert server.get("/unknown").status == 500
    assert lines(1)[0]["status"] == 500
    with server.raw() as client:
        client.send(get(target=b"/late/0.3"))
        server.wait_for_log("waiting")
        client.reset()
    assert lines(2)[1]["path"] == "/late/0.3"


def test_metrics_count_requests(serve_asgi, loop):
    server = serve_asgi("bodies:app", "--loop", loop, "--metrics", "/metrics")
    for _ in range(5):
        assert server.get("/none").status == 200
    assert server.get("/unknown").status == 500
    with server.raw() as client:
        client.send(get(target=b"/late/1"))
        during = metrics_once(lambda: server.get("/metrics"), lambda now: now.value("requests_in_flight") == 1)
        assert during.value("requests_in_flight") == 1
        assert client.read_response().status == 200
    after = metrics_once(lambda: server.get("/metrics"), lambda now: now.value("requests_in_flight") == 0)
    assert (
        sum(sample.value for sample in after.families["pronghorn_requests"].samples if sample.name.endswith("_total"))
        >= 7
    )


def test_requests_beyond_max_concurrency_are_refused(serve_asgi, loop):
    server = serve_asgi("bodies:app", "--loop", loop, "--max-concurrency", "3")
    with contextlib.ExitStack() as scope:
        clients = [scope.enter_context(server.raw()) for _ in range(3)]
        for client in clients:
            client.send(get(target=b"/late/1"))
        time.sleep(0.2)
        response = server.get("/none")
        assert (response.status, response.get("retry-after")) == (503, "1")
        assert [client.read_response().status for client in clients] == [200] * 3
    assert server.get("/none").status == 200


def test_the_identifier_of_a_request_reaches_the_application_and_the_client(serve_asgi, loop):
    server = serve_asgi("echo:app", "--loop", loop, "--request-id")
    with server.raw() as client:
        response = client.ask(get())
    assert response.json()["environ"]["HTTP_X_REQUEST_ID"] == response.get("x-request-id")
