"""Requests that run too long: their task is cancelled, their client answered, and all others go on."""

import re
import time

import pytest

from harness import fleet
from harness.request import get, head
from harness.waiting import until


@pytest.fixture
def timed(serve_asgi, loop):
    """A function that starts a server with a request-timeout of a second, on each event loop."""

    def start(*args, **more):
        return serve_asgi("stuck:app", "--loop", loop, "--request-timeout", "1s", *args, **more)

    return start


def expect_504(server, target):
    """A request over its time, on a connection that ends with it."""
    with server.raw() as client:
        response = client.ask(get(target=target))
        assert response.status == 504 and response.closes
        assert client.is_closed()


def expect_service(server, seconds):
    """Others are answered all the time for so long."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        assert server.get("/hello/x").status == 200


def test_a_view_that_awaits_too_long_is_cancelled_and_its_client_gets_504(timed):
    server = timed()
    began = time.monotonic()
    expect_504(server, b"/wait/60?secret=1")
    assert 0.9 < time.monotonic() - began < 2.5
    server.wait_for_log("wait was cancelled")
    server.wait_for_log(r"\[ERROR\] GET /wait/60 of 127\.0\.0\.1:\d+: runs for 1\.\d s, longer than request-timeout")
    for name in ("wait", "inner", "innermost"):
        assert re.search(rf'File ".*stuck.py", line \d+, in {name}\b', server.log()), name
    assert "secret" not in server.log()


def test_other_requests_go_on_meanwhile(timed):
    server = timed()
    with server.raw() as client:
        client.send(get(target=b"/wait/60"))
        began = time.monotonic()
        while time.monotonic() < began + 1.5:
            assert server.get("/hello/x").status == 200
        assert client.read_response().status == 504
    assert server.get("/hello/x").status == 200


def test_a_response_that_has_begun_may_take_its_time(timed):
    server = timed()
    with server.raw() as client:
        client.send(get(target=b"/begun/2"))
        client.wait_for(b"waited")
    assert "ERROR" not in server.log()


def test_an_answer_after_the_504_goes_nowhere(timed):
    server = timed()
    with server.raw() as client:
        response = client.ask(get(target=b"/answers_cancelled"))
        assert response.status == 504 and b"too late" not in response.body
        assert client.is_closed()
    assert server.get("/hello/x").status == 200


@pytest.mark.parametrize("name", ["block/4", "compute/4"])
def test_a_loop_that_is_stuck_for_too_long_is_told_of(timed, name):
    server = timed("--request-timeout-grace", "500ms")
    with server.raw(timeout=10) as client:
        client.send(get(target=f"/{name}".encode()))
        server.wait_for_log(rf'File ".*stuck.py", line \d+, in {name.partition("/")[0]}', within=3)
        assert "the event loop is blocked for 1." in server.log()
        assert client.read_response().status == 504
    until(lambda: server.get("/hello/x", timeout=10).status == 200, 10, "the loop is free")


def test_the_time_a_client_takes_does_not_count(timed):
    server = timed()
    with server.raw(timeout=10) as client:
        client.send(head(b"POST /receiving HTTP/1.1", b"Host: test", b"Content-Length: 4"))
        for byte in b"body":
            time.sleep(0.5)
            client.send(bytes([byte]))
        assert client.read_response().body == b"body"


def test_the_time_a_reader_takes_does_not_count(timed):
    server = timed()
    with server.raw(timeout=10, receive_buffer=65536) as client:
        client.send(get(target=b"/sends"))
        time.sleep(2)
        assert len(client.read_response().body) == 20_000_000
    assert "ERROR" not in server.log()


def test_a_request_timeout_of_0_is_none(serve_asgi, loop):
    server = serve_asgi("stuck:app", "--loop", loop, "--request-timeout", "0")
    assert server.get("/wait/1.5").body == b"waited"
    assert "ERROR" not in server.log()


def test_quick_requests_are_never_cancelled(timed):
    server = timed()
    with server.raw(timeout=20) as client:
        for _ in range(8):
            assert client.ask(get(target=b"/wait/0.3")).body == b"waited"


def test_a_worker_with_a_stuck_loop_is_replaced(timed):
    server = timed("--request-timeout-grace", "500ms", "--graceful-timeout", "1s", supervised=True)
    with server.raw(timeout=10) as client:
        client.send(get(target=b"/block/30"))
        until(lambda: len(re.findall(r"worker (\d+) is ready", server.log())) >= 2, 15, "another worker is ready")
        first = int(re.findall(r"worker (\d+) is ready", server.log())[0])
        until(lambda: fleet.state(first) is None, 15, "the worker is gone")
        # Until then it took in connections too.
        assert server.get("/hello/x", timeout=10).status == 200


def test_the_client_that_a_proxy_names_is_told(timed):
    server = timed("--slow-request", "300ms", "--request-timeout-grace", "300ms")
    with server.raw() as client:
        assert client.ask(get(b"X-Forwarded-For: 192.0.2.7", target=b"/stubborn/2")).status == 504
    server.wait_for_log("GET /stubborn/2 of 192.0.2.7: runs for .* longer than slow-request")
    server.wait_for_log("GET /stubborn/2 of 192.0.2.7: runs for .* longer than request-timeout")
    server.wait_for_log("GET /stubborn/2 of 192.0.2.7: runs for .* after its task was cancelled")


@pytest.mark.parametrize("name", ["stubborn/3", "heedless/4"])
def test_a_task_that_goes_on_although_it_is_cancelled_is_told_of_once(timed, name):
    server = timed("--request-timeout-grace", "500ms")
    with server.raw() as client:
        assert client.ask(get(target=f"/{name}?secret=1".encode())).status == 504
    label = rf"\[ERROR\] GET /{name} of 127\.0\.0\.1:\d+"
    server.wait_for_log(rf"{label}: runs for 1\.\d s and has not ended 0\.5 s after its task was cancelled")
    assert "Nobody is there to replace this process" in server.log()
    last = server.log().split("has not ended")[-1]
    assert re.search(rf'File ".*stuck.py", line \d+, in {name.partition("/")[0]}\b', last)
    server.wait_for_log("is done")
    assert server.get("/hello/x").status == 200
    assert server.log().count("has not ended") == 1
    assert "secret" not in server.log()


def test_a_task_that_ends_in_the_grace_time_is_not_told_of(timed):
    server = timed("--request-timeout-grace", "700ms")
    expect_504(server, b"/stubborn/0.3")
    server.wait_for_log("stubborn is done")
    expect_service(server, 1)
    assert "has not ended" not in server.log()


def test_a_worker_whose_task_does_not_end_is_replaced_and_loses_no_other_request(timed):
    server = timed("--request-timeout-grace", "500ms", "--graceful-timeout", "1s", supervised=True)
    expect_504(server, b"/heedless/60")
    server.wait_for_log("GET /heedless/60 of .* has not ended 0.5 s .* This process will be replaced")
    expect_service(server, 3)
    first, second = re.findall(r"worker (\d+) is ready", server.log())
    until(lambda: fleet.state(int(first)) is None, 15, "the worker is gone")
    assert first != second
