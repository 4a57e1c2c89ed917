"""Stacks that are asked for: the requests under way, and where their tasks wait."""

import contextlib
import re
import signal
import time

import pytest

from harness.request import get


@pytest.fixture
def stuck(serve_asgi, loop):
    """A function that starts a server of coroutines that take long, on each event loop."""

    def start(*args, **more):
        ends = ("--disconnect-grace", "100ms", "--graceful-timeout", "2s")
        return serve_asgi("stuck:app", "--loop", loop, *ends, *args, **more)

    return start


@contextlib.contextmanager
def under_way(server, *targets):
    """Requests whose tasks have begun, one on each connection."""
    with contextlib.ExitStack() as scope:
        for target in targets:
            client = scope.enter_context(server.raw(timeout=20))
            client.send(get(target=target.encode()))
        # The loop gives requests to the application in the order they came in.
        assert server.get("/hello/x").status == 200
        yield scope


def stacks(server):
    """What is printed for SIGABRT."""
    server.signal(signal.SIGABRT)
    return server.wait_for_log(
        r"(?s)stacks of all threads.*thread 0x\w+:\n(most recent call first:\n)?(  .*\n)+"
    ).group()


def section(printed, target):
    """The lines about one request."""
    return re.search(rf"GET {target} of .*\n(  .*\n)*", printed).group()


def test_abrt_prints_the_requests_under_way_and_where_their_tasks_wait(stuck):
    server = stuck()
    with under_way(server, "/wait/30?secret=1", "/begun/31", "/outlasts/32"):
        printed = stacks(server)
    assert "Requests under way: 3\n" in printed
    waits = section(printed, "/wait/30")
    assert re.match(r"GET /wait/30 of 127\.0\.0\.1:\d+, for \d\.\d s:\n", waits)
    for name in ("wait", "inner", "innermost"):
        assert re.search(rf'File ".*stuck.py", line \d+, in {name}\b', waits), name
    assert "its response has begun" in section(printed, "/begun/31")
    assert "its response has ended and its task goes on" in section(printed, "/outlasts/32")
    assert "in inner\n" in section(printed, "/outlasts/32")
    assert "secret" not in printed


def test_a_client_that_a_proxy_names_is_told(stuck):
    server = stuck()
    with server.raw() as client:
        client.send(get(b"X-Forwarded-For: 192.0.2.7", target=b"/wait/30"))
        assert server.get("/hello/x").status == 200
        assert "GET /wait/30 of 192.0.2.7, for" in stacks(server)


def test_a_blocked_loop_hides_no_request(stuck):
    server = stuck()
    with under_way(server, "/wait/30"), server.raw(timeout=20) as client, server.raw(timeout=20) as late:
        client.send(get(target=b"/block/4"))
        server.wait_for_log("blocking")
        late.send(get(target=b"/hello/late"))
        # The stand-in has read it by then.
        assert late.is_silent(0.2)
        printed = stacks(server)
        assert client.read_response().body == b"blocked"
        assert late.read_response().body == b"hello late"
    assert "Requests under way: 3\n" in printed
    assert "in innermost\n" in section(printed, "/wait/30")
    assert re.search(r"GET /block/4 of 127\.0\.0\.1:\d+, for", printed)
    assert "waits for the event loop" in section(printed, "/hello/late")
    # What the loop's thread is doing.
    assert re.search(r'thread 0x\w+:\n(  .*\n)*  File ".*stuck.py", line \d+, in block\n', printed)


def test_requests_are_told_of_while_the_interpreter_is_held(stuck):
    server = stuck()
    with under_way(server, "/wait/30"), server.raw(timeout=60) as client:
        client.send(get(target=b"/compute_in_c/200"))
        server.wait_for_log("blocking")
        # There is no sign of its being in C.
        time.sleep(0.5)
        printed = stacks(server)
        assert client.read_response().status == 200
    assert "Where their tasks wait cannot be told while the interpreter's lock is held" in printed
    assert re.search(r"GET /wait/30 of 127\.0\.0\.1:\d+, for \d\.\d s\n", printed)
    assert re.search(r"GET /compute_in_c/200 of 127\.0\.0\.1:\d+, for", printed)
    assert re.search(r'File ".*stuck.py", line \d+ in compute_in_c', printed)


def test_the_oldest_of_many_are_told_of(stuck):
    server = stuck()
    targets = [f"/begun/{100 + number}" for number in range(20)] + [f"/wait/{200 + number}" for number in range(45)]
    with under_way(server, *targets):
        printed = stacks(server)
    assert "Requests under way: 65\n" in printed
    shown = re.findall(r"GET (/\w+/\d+) of", printed)
    # Those whose response has not begun go first.
    assert set(shown[:45]) == set(targets[20:]) and set(shown[45:]) < set(targets[:20])
    assert "\nand 15 more\n" in printed
    assert printed.count("in innermost") == 50


def test_a_second_quit_prints_them_too(stuck):
    server = stuck()
    with under_way(server, "/wait/30"), server.raw(timeout=20) as client:
        client.send(get(target=b"/block/5"))
        server.wait_for_log("blocking")
        assert server.quit_twice() == 131
    assert "in innermost\n" in section(server.log(), "/wait/30")


def test_abrt_reaches_the_workers_of_a_supervisor(stuck):
    server = stuck(supervised=True)
    with under_way(server, "/wait/30"):
        printed = stacks(server)
    assert "in innermost\n" in section(printed, "/wait/30")


def test_a_server_that_was_asked_for_stacks_ends_as_quickly_as_any(stuck):
    server = stuck()
    with under_way(server, "/wait/30"):
        stacks(server)
    server.wait_for_log("wait was cancelled")
    server.signal(signal.SIGTERM)
    began = time.monotonic()
    assert server.wait() == 0
    assert time.monotonic() - began < 1.5
