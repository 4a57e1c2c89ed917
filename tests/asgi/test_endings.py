"""What is left of a stop when its time is over: tasks are cancelled, and the application shuts down all the same."""

import contextlib
import signal
import time

import pytest

from harness.request import get

STOPS = {"TERM": (signal.SIGTERM, 1), "INT": (signal.SIGINT, 0)}


@pytest.fixture(params=[False, True], ids=["one process", "supervised"])
def start(serve_asgi, loop, request):
    """A function that starts the application with a second to stop."""

    def serve(*args):
        return serve_asgi("endings:app", "--loop", loop, "--graceful-timeout", "1s", *args, supervised=request.param)

    return serve


@pytest.mark.parametrize("stop", STOPS)
def test_a_request_that_is_cut_is_cancelled_and_the_application_shuts_down(start, stop):
    number, code = STOPS[stop]
    server = start("--access-log", "-")
    with server.raw(timeout=10) as client:
        client.send(get(target=b"/wait"))
        server.wait_for_log("waiting")
        server.signal(number)
        began = time.monotonic()
        assert server.wait() == code
        assert 0.9 < time.monotonic() - began < 4
        assert client.is_closed()
    log = server.log()
    assert log.index("request cleaned up") < log.index("lifespan cleaned up")
    assert "connections still busy, which are cut: 1" in log
    assert "GET /wait HTTP/1.1" in log and "Traceback" not in log


@pytest.mark.parametrize("stop", STOPS)
def test_a_task_behind_its_answer_is_cancelled_in_the_end(start, stop):
    server = start()
    with server.raw(timeout=10) as client:
        assert client.ask(get(target=b"/later")).body == b"answered"
    server.wait_for_log("waiting")
    server.signal(STOPS[stop][0])
    began = time.monotonic()
    assert server.wait() == 0
    assert 0.9 < time.monotonic() - began < 4
    log = server.log()
    assert log.index("request cleaned up") < log.index("lifespan cleaned up")


def test_a_task_that_does_not_end_keeps_nobody(start):
    server = start()
    with server.raw(timeout=10) as client:
        client.send(get(target=b"/stubborn"))
        server.wait_for_log("waiting")
        server.signal(signal.SIGTERM)
        began = time.monotonic()
        server.wait()
        assert time.monotonic() - began < 5
    assert "lifespan cleaned up" in server.log()
    assert "a task of the application does not end, though it was cancelled" in server.log()


@pytest.mark.parametrize("stop", STOPS)
def test_who_is_told_as_cut_is_not_answered(start, stop):
    server = start()
    with server.raw(timeout=10) as kept, server.raw(timeout=10) as client:
        assert kept.ask(get(target=b"/hello")).body == b"hello"
        client.send(get(target=b"/hog"))
        server.wait_for_log("waiting")
        server.signal(STOPS[stop][0])
        server.wait_for_log("blocking")
        kept.send(get(target=b"/hello"))
        server.wait_for_log("connections still busy, which are cut: 2")
        assert client.is_closed() and kept.is_closed()
        server.wait()
    assert "answered" not in server.log()


def test_a_stream_that_ends_as_it_is_told_is_no_fault(start):
    server = start()
    with server.raw(timeout=10) as client:
        client.send(get(target=b"/stream"))
        client.wait_for(b"piece")
        server.signal(signal.SIGTERM)
        assert server.wait() == 0
    assert "ERROR" not in server.log() and "lifespan cleaned up" in server.log()


def test_a_stream_that_ends_in_time_without_asking_is_sent_to_its_end(start):
    server = start()
    with server.raw(timeout=10) as client:
        client.send(get(target=b"/finite"))
        client.wait_for(b"piece")
        server.signal(signal.SIGTERM)
        # To its last chunk: without that the connection would end inside the response.
        response = client.read_response()
        assert (response.framing, response.body) == ("chunked", b"piece" * 16 + b"end")
        assert server.wait() == 0
    assert "ERROR" not in server.log()


@pytest.mark.parametrize("ends", ["exit", "stop"])
def test_whoever_ends_the_loop_takes_nobody_the_time_to_end(serve_asgi, loop, ends):
    server = serve_asgi("loop_ending:app", "--loop", loop, "--graceful-timeout", "1s", env={"ENDS": ends})
    assert server.get("/tasks").body == b"answered"
    with contextlib.ExitStack() as scope:
        for path in (b"/end", b"/wait", b"/end"):
            scope.enter_context(server.raw()).send(get(target=path))
        server.wait_for_log("waiting\n(.*\n)*waiting\n")
        server.signal(signal.SIGTERM)
        assert server.wait() == 1
    log = server.log()
    assert log.index("request cleaned up") < log.index("lifespan cleaned up") < log.index("task cleaned up")
    assert "could not be ended" not in log and "failed when it was to shut down" not in log
