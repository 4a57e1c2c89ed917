"""Running ASGI applications in production: reload, replacement and stop lose no request."""

import os
import signal
import time

import pytest

from harness import fleet
from harness.load import Load
from harness.request import get
from harness.waiting import until


@pytest.fixture
def supervised(serve_asgi, loop):
    """A function that starts a supervisor and so many workers on each event loop, ready when all of them serve."""

    def start(count, *args, starting="0"):
        env = {"START_SECONDS": starting}
        server = serve_asgi("numbered:app", "--loop", loop, "--workers", str(count), *args, env=env, supervised=True)
        fleet.wait_for_count(server.pid, count)
        return server

    return start


@pytest.mark.parametrize("path", ["/{id}", "/0.05/{id}"], ids=["quick", "waiting"])
def test_reloads_under_load_lose_nothing(supervised, path):
    server = supervised(2, starting="0.5")
    with Load(server.addresses[0], path=path) as load:
        for _ in range(3):
            time.sleep(0.5)
            fleet.reload(server.pid, 2)
    load.stop().assert_nothing_lost()
    assert server.log().count("cleaned up") >= 6


def test_max_requests_loses_nothing(supervised):
    server = supervised(2, "--max-requests", "50", "--max-requests-jitter", "10")
    with Load(server.addresses[0]) as load:
        until(lambda: len(load.report.workers()) >= 12, 50, "12 workers have answered")
    load.stop().assert_nothing_lost()


@pytest.mark.parametrize("alone", [True, False], ids=["one process", "supervised"])
def test_requests_in_flight_at_a_stop_get_their_answers(serve_asgi, loop, alone):
    server = serve_asgi("numbered:app", "--loop", loop, supervised=not alone)
    clients = [server.raw(timeout=10) for _ in range(2)]
    for client in clients:
        client.send(get(target=b"/2/slow"))
    time.sleep(0.5)
    server.signal(signal.SIGTERM)
    for client in clients:
        response = client.read_response()
        assert response.status == 200 and response.closes
        client.close()
    assert server.wait() == 0
    assert "cleaned up" in server.log()


@pytest.mark.parametrize("seconds", [0.1, 0.5, 1.3])
def test_a_stop_ends_with_the_last_answer(serve_asgi, loop, seconds):
    server = serve_asgi("numbered:app", "--loop", loop)
    with server.raw() as client:
        client.send(get(target=f"/{seconds}/slow".encode()))
        assert client.is_silent(0.05)
        server.signal(signal.SIGTERM)
        assert client.read_response().status == 200
        answered = time.monotonic()
        assert server.wait() == 0
        assert time.monotonic() - answered < 0.7


def test_a_kept_alive_client_that_never_pauses_is_told_to_close(serve_asgi, loop):
    server = serve_asgi("numbered:app", "--loop", loop)
    with server.raw() as client:
        assert not client.ask(get(target=b"/x")).closes
        server.signal(signal.SIGTERM)
        began = time.monotonic()
        while not client.ask(get(target=b"/x")).closes:
            assert time.monotonic() - began < 3
        assert client.is_closed()
    assert server.wait() == 0


def test_a_request_that_does_not_end_is_cut_at_the_graceful_timeout(serve_asgi, loop):
    server = serve_asgi("numbered:app", "--loop", loop, "--graceful-timeout", "1s")
    with server.raw(timeout=10) as client:
        client.send(get(target=b"/60/x"))
        time.sleep(0.3)
        server.signal(signal.SIGTERM)
        began = time.monotonic()
        assert server.wait() == 1
        assert 0.9 < time.monotonic() - began < 5


def test_a_killed_worker_is_replaced(supervised):
    server = supervised(2)
    before = fleet.workers(server.pid)
    os.kill(min(before), signal.SIGKILL)
    until(lambda: len(fleet.workers(server.pid) - before) == 1)
    assert server.get("/x").status == 200


def test_int_ends_an_idle_server_at_once(serve_asgi, loop):
    server = serve_asgi("numbered:app", "--loop", loop)
    began = time.monotonic()
    server.signal(signal.SIGINT)
    assert server.wait() == 0
    assert time.monotonic() - began < 2
    assert "KeyboardInterrupt" not in server.log() and "Traceback" not in server.log()
