"""A coroutine that holds up the loop holds up no health check, no metrics, no deadline and no accept, and loses no request.

The bounds leave room for a busy machine; what is measured is printed.
"""

import contextlib
import re
import signal
import statistics
import time

import pytest

from harness.metrics import Metrics
from harness.request import get, post

AT_MOST = 0.1
BLOCKED = 3


@pytest.fixture
def stuck(serve_asgi, loop):
    """A function that starts a server of coroutines that hold up the loop."""

    def start(*args, **more):
        return serve_asgi("stuck:app", "--loop", loop, "--health", "/health", *args, **more)

    return start


@contextlib.contextmanager
def blocked(server, name=f"block/{BLOCKED}"):
    """For a while the loop is stuck; its client gets its answer."""
    count = server.log().count("blocking")
    with server.raw(timeout=20) as client:
        client.send(get(target=f"/{name}".encode()))
        while server.log().count("blocking") == count:
            time.sleep(0.001)
        yield client
        assert client.read_response().status == 200


def seconds_of(action):
    """How long it takes."""
    began = time.monotonic()
    action()
    return time.monotonic() - began


def told(name, measured):
    """Prints the median and the most; gives the median, which one hiccup of the machine does not change."""
    print(
        f"{name}: median {statistics.median(measured) * 1000:.1f} ms, most {max(measured) * 1000:.1f} ms of {len(measured)}"
    )
    return statistics.median(measured)


@pytest.mark.parametrize("name", [f"block/{BLOCKED}", f"block_later/{BLOCKED}", f"compute/{BLOCKED}"])
def test_health_checks_are_answered_at_once(stuck, name):
    server = stuck()
    free = told("free", [seconds_of(lambda: server.get("/health")) for _ in range(50)])
    with blocked(server, name):
        began, measured = time.monotonic(), []
        while time.monotonic() - began < BLOCKED - 1:
            measured.append(seconds_of(lambda: server.get("/health")))
            time.sleep(0.02)
        assert server.get("/health").status == 200
    assert told("stuck", measured) < free + AT_MOST


def test_health_checks_on_an_open_connection_are_answered_at_once(stuck):
    server = stuck()
    with server.raw(timeout=20) as probe:
        assert probe.ask(get(target=b"/health")).status == 200
        with blocked(server):
            measured = [seconds_of(lambda: probe.ask(get(target=b"/health"))) for _ in range(50)]
            assert told("stuck, kept alive", measured) < AT_MOST


def test_metrics_are_answered_at_once(stuck):
    server = stuck("--metrics", "/metrics")
    with blocked(server):
        measured = [seconds_of(lambda: server.get("/metrics")) for _ in range(20)]
        assert Metrics(server.get("/metrics")).families
    assert told("metrics", measured) < AT_MOST


def test_the_deadline_of_a_head_passes_in_time(stuck):
    server = stuck("--head-timeout", "500ms")
    with blocked(server), server.raw() as client:
        client.send(b"GET / HTTP/1.1\r\nHost")
        began = time.monotonic()
        assert client.read_response().status == 408
        late = time.monotonic() - began - 0.5
    print(f"408 came {late * 1000:.1f} ms after its deadline")
    assert late < 0.064 + AT_MOST


def test_what_came_meanwhile_is_answered_in_the_end_in_order(stuck):
    server = stuck()
    with contextlib.ExitStack() as scope:
        kept = [scope.enter_context(server.raw(timeout=20)) for _ in range(20)]
        for number, client in enumerate(kept):
            assert client.ask(get(target=b"/hello/%d" % number)).body == b"hello %d" % number
        with blocked(server):
            fresh = [scope.enter_context(server.raw(timeout=20)) for _ in range(20)]
            for number, client in enumerate(kept + fresh):
                client.send(get(target=b"/hello/a%d" % number) + post(b"x" * 10_000 + b"%d" % number, target=b"/echo"))
            for client in kept + fresh:
                assert client.is_silent(0.001)
        for number, client in enumerate(kept + fresh):
            assert client.read_response().body == b"hello a%d" % number
            assert client.read_response().body == b"x" * 10_000 + b"%d" % number


def test_hundreds_of_connections_are_accepted_meanwhile(stuck):
    server = stuck()
    with contextlib.ExitStack() as scope, blocked(server):
        clients = [scope.enter_context(server.raw(timeout=20)) for _ in range(300)]
        for client in clients:
            client.send(get(target=b"/health"))
        for client in clients:
            assert client.read_response().status == 200


def test_refusals_come_at_once(stuck):
    server = stuck()
    with blocked(server):
        for request in (b"junk\r\n\r\n", get(host=None), b"GET / HTTP/2.0\r\n\r\n"):
            with server.raw() as client:
                began = time.monotonic()
                client.send(request)
                assert client.read_response().status in (400, 505)
                assert time.monotonic() - began < 0.5


def test_clients_that_go_meanwhile_are_not_served(stuck):
    server = stuck()
    with blocked(server):
        for _ in range(50):
            with server.raw() as client:
                client.send(get(target=b"/hello/x"))
                client.reset()
    assert server.get("/hello/y").body == b"hello y"


def test_a_loop_that_is_stuck_again_and_again_goes_on(stuck):
    server = stuck()
    for _ in range(10):
        with blocked(server, "block/0.2"):
            assert server.get("/health").status == 200
        assert server.get("/hello/x").status == 200


def test_a_stop_that_is_asked_for_meanwhile_is_not_forgotten(stuck):
    server = stuck()
    with blocked(server, "block/1.5"):
        time.sleep(0.3)
        server.signal(signal.SIGTERM)
    began = time.monotonic()
    assert server.wait() == 0
    assert time.monotonic() - began < 3


def test_a_warning_names_what_is_stuck_and_where(stuck):
    server = stuck("--slow-request", "300ms")
    with blocked(server, "block/1.5"):
        server.wait_for_log(r"\[WARNING\] the event loop is blocked for 0\.\d s, longer than slow-request", within=1.2)
        server.wait_for_log(r'File ".*stuck.py", line \d+, in block', within=1.2)
    assert server.log().count("slow-request") == 1


def test_a_warning_of_a_request_that_waits_has_the_stack_it_waits_in(stuck):
    server = stuck("--slow-request", "300ms")
    assert server.get("/wait/1").body == b"waited"
    server.wait_for_log(r"\[WARNING\] GET /wait/1\b.*slow-request")
    for name in ("wait", "inner", "innermost"):
        assert re.search(rf'File ".*stuck.py", line \d+, in {name}\b', server.log()), name


def test_quick_requests_get_no_warning(stuck):
    server = stuck("--slow-request", "300ms")
    for _ in range(20):
        assert server.get("/hello/x").status == 200
    assert "WARNING" not in server.log()
