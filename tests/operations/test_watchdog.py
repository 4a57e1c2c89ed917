"""Requests that run too long: named, interrupted, answered for, while all others go on."""

import contextlib
import re
import signal
import threading
import time
from pathlib import Path

import pytest

from harness import fleet
from harness.request import get
from harness.response import ResetByServer

APPS = Path(__file__).parent / "apps"


@pytest.fixture
def greedy(serve):
    """A function that starts a server of views that take too long."""

    def start(*args, **more):
        return serve("greedy:app", *args, app_dir=APPS, **more)

    return start


@pytest.mark.parametrize("threads", ["1", "8"])
def test_a_view_that_loops_is_interrupted_and_its_client_gets_504(greedy, threads):
    server = greedy("--request-timeout", "500ms", "--threads", threads)
    with server.raw() as client:
        response = client.ask(get(target=b"/loop/30?secret=1"))
        assert response.status == 504
        assert response.closes
        assert client.is_closed()
    server.wait_for_log(r"\[ERROR\] GET /loop/30 of 127\.0\.0\.1:\d+: runs for 0\.\d s, longer than request-timeout")
    server.wait_for_log(r'File ".*greedy.py", line \d+, in loop')
    server.wait_for_log("has ended, as it was interrupted")
    assert server.get("/hello").status == 200


def test_a_view_that_sleeps_in_c_is_answered_for_and_the_others_go_on(greedy):
    server = greedy("--request-timeout", "500ms")
    with server.raw() as client:
        client.send(get(target=b"/nap/4"))
        server.wait_for_log("begin nap")
        began = time.monotonic()
        while time.monotonic() < began + 1:
            assert server.get("/hello").status == 200
        assert client.read_response().status == 504
    server.wait_for_log(r"GET /nap/4 of 127\.0\.0\.1:\d+: runs for")
    server.wait_for_log(r'File ".*greedy.py", line \d+, in nap')


def test_a_stream_that_stops_is_cut_and_its_generator_closed(greedy):
    server = greedy("--request-timeout", "500ms")
    with server.raw() as client:
        client.send(get(target=b"/stream/30"))
        client.wait_for(b"first")
        with contextlib.suppress(ResetByServer):
            rest = b"".join(iter(client.receive, b""))
            assert b"last" not in rest and not rest.endswith(b"0\r\n\r\n")
    server.wait_for_log("closed")
    server.wait_for_log("its response had begun and is cut")
    assert server.get("/hello").status == 200


def test_an_answer_after_the_504_goes_nowhere(greedy):
    server = greedy("--request-timeout", "500ms", "--access-log", "-")
    with server.raw() as client:
        assert client.ask(get(target=b"/stubborn/3")).status == 504
        assert client.is_closed()
    server.wait_for_log("caught")
    server.wait_for_log(r'"GET /stubborn/3 HTTP/1.1" 504')
    assert server.get("/hello").status == 200


def test_a_view_that_holds_the_interpreter_is_told_of_and_answered_for_meanwhile(greedy):
    server = greedy("--request-timeout", "300ms", "--request-timeout-grace", "500ms")
    with server.raw(timeout=30) as client:
        client.send(get(target=b"/compute/8"))
        assert client.read_response().status == 504
        server.wait_for_log(r"GET /compute/8 of .*: runs for", within=3)
        assert "holding" not in server.log()
        server.wait_for_log(r'File ".*greedy.py", line \d+ in compute')
        server.wait_for_log(r"GET /compute/8 of .*has not ended 0\.5 s after it was interrupted", within=3)
        assert "Nobody is there to replace this process" in server.log()
        server.wait_for_log("holding", within=50)
    assert server.get("/hello", timeout=20).status == 200
    assert server.log().count("GET /compute/8 of") == 2


def test_a_request_timeout_of_0_is_none(greedy):
    server = greedy("--request-timeout", "0", "--request-timeout-grace", "100ms")
    assert server.get("/loop/1").status == 200
    assert "ERROR" not in server.log()


def test_slow_requests_are_told_of_once_and_go_on(greedy):
    server = greedy("--slow-request", "300ms")
    assert server.get("/loop/1").status == 200
    assert server.get("/hello").status == 200
    assert (
        len(re.findall(r"\[WARNING\] GET /loop/1 of .*: runs for 0\.\d s, longer than slow-request", server.log())) == 1
    )
    assert re.search(r'File ".*greedy.py", line \d+, in loop', server.log())


@pytest.mark.parametrize("threads", ["1", "8"])
def test_an_interruption_never_meets_the_next_request(greedy, threads):
    server = greedy("--request-timeout", "50ms", "--threads", threads)
    statuses: list[int] = []

    def ask():
        for turn in range(100):
            with server.raw(timeout=20) as client:
                status = client.ask(get(target=b"/busy/0.0%d" % (40 + turn % 25))).status
            statuses.append(status)
            with server.raw(timeout=20) as client:
                statuses.append(client.ask(get(target=b"/hello")).status)

    clients = [threading.Thread(target=ask) for _ in range(2)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    assert len(statuses) == 400
    assert set(statuses) <= {200, 504}
    assert {200, 504} <= set(statuses)
    assert "the application failed" not in server.log()
    assert "could not be given" not in server.log()


@pytest.mark.parametrize("threads", ["1", "8"])
def test_abrt_prints_the_stacks_of_all_threads_and_what_they_serve(greedy, threads):
    server = greedy("--threads", threads)
    with server.raw(timeout=20) as client:
        client.send(get(target=b"/threads/2"))
        server.wait_for_log("napping")
        server.signal(signal.SIGABRT)
        server.wait_for_log(r"GET /threads/2 of 127\.0\.0\.1:\d+, for \d\.\d s, in thread 0x")
        # That of the thread it waits for, too.
        server.wait_for_log(r'File ".*greedy.py", line \d+, in nap')
        assert client.read_response().status == 200


@pytest.mark.parametrize("threads", ["1", "8"])
def test_an_abort_in_c_ends_the_process(greedy, threads):
    server = greedy("--threads", threads)
    with server.raw() as client:
        client.send(get(target=b"/abort"))
        assert server.wait(5) == -signal.SIGABRT


def test_abrt_prints_stacks_while_the_interpreter_is_held(greedy):
    server = greedy("--threads", "1")
    with server.raw(timeout=60) as client:
        client.send(get(target=b"/compute/5"))
        server.wait_for_log("begin compute")
        time.sleep(0.5)
        server.signal(signal.SIGABRT)
        server.wait_for_log(r"GET /compute/5 of 127\.0\.0\.1:\d+, for", within=3)
        server.wait_for_log(r'File ".*greedy.py", line \d+ in compute')
        assert client.read_response().status == 200


def test_a_worker_with_a_stuck_request_is_replaced_and_loses_no_other(greedy):
    server = greedy("--request-timeout", "300ms", "--request-timeout-grace", "500ms", supervised=True)
    with server.raw(timeout=10) as client:
        assert client.ask(get(target=b"/nap/3")).status == 504
        server.wait_for_log(r"GET /nap/3 of .*has not ended 0\.5 s .* This process will be replaced")
        began = time.monotonic()
        while time.monotonic() < began + 4:
            assert server.get("/hello").status == 200
        first, second = re.findall(r"worker (\d+) is ready", server.log())
        server.wait_for_log(f"worker {first} has ended")
        assert first != second


@pytest.mark.parametrize("threads", ["1", "2"])
def test_a_stuck_worker_that_was_cut_does_not_spoil_the_end_of_the_server(greedy, threads):
    """Whether a worker drains until its time is over and ends itself, or is killed."""
    options = ("--request-timeout", "200ms", "--request-timeout-grace", "200ms", "--graceful-timeout", "500ms")
    server = greedy(*options, "--threads", threads, supervised=True)
    with server.raw(timeout=10) as client:
        assert client.ask(get(target=b"/nap/60")).status == 504
    server.wait_for_log(r"worker \d+ (ended with exit code 1 while it was ending|does not end in time and is killed)")
    (first,) = re.findall(r"worker (\d+) is ready", server.log())[:1]
    fleet.until(lambda: fleet.state(int(first)) is None, 10, "the worker is gone")
    assert server.get("/hello").status == 200
    assert server.stop() == 0
