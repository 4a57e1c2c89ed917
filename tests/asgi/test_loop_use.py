"""The event loop does for the application all that asyncio's does, while it serves."""

import statistics
import threading
import time

import pytest

from harness.request import get


@pytest.fixture
def server(share_asgi, loop):
    """The application that uses its loop, on each event loop."""
    return share_asgi("loop_use:app", "--loop", loop)


def ask(server, path):
    """The response to a GET, with patience."""
    return server.get(path, timeout=20)


def test_timers_come_in_time(server):
    late = ask(server, "/timers").json()
    print(f"timers are late by {late} ms")
    assert all(-2 < one < 100 for one in late)


def test_what_a_request_leaves_to_the_loop_does_not_wait_for_the_next(server):
    with server.raw() as client:
        assert client.ask(get(target=b"/schedules")).body == b"scheduled"
        assert client.is_silent(2.0)
        seen = client.ask(get(target=b"/scheduled")).json()
    assert seen.keys() == {"soon", "later", "task"}
    assert 0.05 <= seen.pop("later") < 1.9
    assert max(seen.values()) < 1.9


def test_calls_from_other_threads_wake_the_loop_at_once(server):
    late = ask(server, "/threadsafe").json()
    print(f"woken within {late} ms")
    assert statistics.median(late) < 50


@pytest.mark.parametrize(("name", "value"), [
    ("subprocess", ["42\n", 0]), ("descriptors", ["writable", "readable", "0", "writable", "readable", "1", "writable", "readable", "2"]),
    ("executor", sum(number**2 for number in range(50))), ("soon", True),
])  # fmt: skip
def test_what_asyncio_can_do(server, name, value):
    for _ in range(2):
        assert ask(server, f"/{name}").json() == value


@pytest.mark.parametrize(("name", "body"), [
    ("sockets", b"1000000"), ("datagrams", b"datagram"), ("signals", b"signal"), ("names", b"found"), ("itself", b"hello"), ("itself/itself", b"hello"),
])  # fmt: skip
def test_what_asyncio_can_talk_to(server, name, body):
    for _ in range(2):
        assert ask(server, f"/{name}").body == body


@pytest.mark.parametrize(
    ("name", "text"), [("failing_callback", "callback failed on purpose"), ("failing_task", "task failed on purpose")]
)
def test_errors_that_asyncio_reports_are_seen_and_the_server_lives(server, name, text):
    assert ask(server, f"/{name}").body == b"lives"
    server.wait_for_log(f"RuntimeError: {text}")
    assert ask(server, "/hello").body == b"hello"


def test_requests_are_served_beside_a_loop_that_is_never_idle(server):
    with server.raw(timeout=10) as client:
        client.send(get(target=b"/busy/1.5"))
        time.sleep(0.1)
        measured = []
        for _ in range(20):
            began = time.monotonic()
            assert ask(server, "/hello").body == b"hello"
            measured.append(time.monotonic() - began)
        assert statistics.median(measured) < 0.1
        assert client.read_response().body == b"was busy"


def test_a_server_without_requests_uses_no_processor(serve_asgi, loop):
    server = serve_asgi("loop_use:app", "--loop", loop)
    with server.raw(timeout=10) as client:
        before = client.ask(get(target=b"/idle")).json()
        time.sleep(2)
        assert client.ask(get(target=b"/idle")).json() - before < 0.05


def test_many_requests_that_ask_the_server_itself_do_not_starve_it(server):
    bodies = []
    threads = [threading.Thread(target=lambda: bodies.append(ask(server, "/itself/itself").body)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert bodies == [b"hello"] * 20
