"""Each request runs in a task and a context of its own, with everything that asyncio and anyio can do there."""

import contextlib
import time

import pytest

from harness.request import get, head, post
from harness.waiting import until


@pytest.fixture
def server(serve_asgi, loop):
    """The application of tasks, on each event loop."""
    return serve_asgi("tasks:app", "--loop", loop)


def test_a_request_runs_in_a_task_that_libraries_recognise(server, loop):
    with server.raw() as client:
        seen = [client.ask(get(target=b"/identity")).json() for _ in range(20)]
    for one in seen:
        assert (one["task"], one["same"], one["listed"], one["loop"], one["done"]) == (True, True, True, True, False)
        assert (one["sniffio"], one["anyio"]) == ("asyncio", True)
        assert one["module"].split(".")[0] == ("uvloop" if loop == "uvloop" else "asyncio") or loop == "asyncio"
    assert len({one["id"] for one in seen}) == 20
    assert len({one["name"] for one in seen}) == 20


def test_requests_at_once_do_not_see_the_context_of_each_other(server):
    with contextlib.ExitStack() as scope:
        clients = [scope.enter_context(server.raw()) for _ in range(20)]
        for number, client in enumerate(clients):
            client.send(post(b"body", target=b"/variable/%d" % number))
        for number, client in enumerate(clients):
            assert client.read_response().json() == ["nobody", *[str(number)] * 6, "body"]


def test_requests_on_one_connection_do_not_see_the_context_of_each_other(server):
    with server.raw() as client:
        for number in range(5):
            assert client.ask(get(target=b"/at_once/%d" % number)).body == b"nobody"
        assert client.ask(post(b"b", target=b"/variable/x")).json()[0] == "nobody"
        assert client.ask(get(target=b"/at_once/y")).body == b"nobody"


@pytest.mark.parametrize("name", ["created", "sent_by_task", "unawaited"])
def test_receive_and_send_work_in_other_tasks_and_later(server, name):
    with server.raw() as client:
        for body in (b"small", b"x" * 200_000, b""):
            assert client.ask(post(body, target=f"/{name}".encode())).body == body


def test_receive_that_runs_out_of_time_loses_no_message(server):
    with server.raw() as client:
        client.send(head(b"POST /timed HTTP/1.1", b"Host: test", b"Content-Length: 12"))
        for piece in (b"abc", b"def", b"ghi", b"jkl"):
            time.sleep(0.12)
            client.send(piece)
        seen = client.read_response().json()
    assert seen["body"] == "abcdefghijkl" and seen["timeouts"] >= 4


def test_two_sends_at_once_do_not_mix(server):
    with server.raw() as client:
        for _ in range(5):
            assert client.ask(get(target=b"/gathered")).body == b"a" * 300_000 + b"b" * 300_000


def test_work_behind_the_response_delays_neither_it_nor_the_next_request(server):
    with server.raw() as client:
        began = time.monotonic()
        assert client.ask(get(target=b"/background/0.6")).body == b"answered"
        assert client.ask(get(target=b"/at_once/x")).body == b"nobody"
        assert time.monotonic() - began < 0.4
    server.wait_for_log("background done")


def test_a_task_may_outlive_its_request(server):
    assert server.get("/detached/0.3").body == b"answered"
    server.wait_for_log("detached done")


def test_a_drain_waits_for_work_behind_a_response(server):
    assert server.get("/background/1").body == b"answered"
    assert server.stop() == 0
    assert "background done" in server.log()


def test_a_receive_that_was_cancelled_loses_no_message(server):
    with server.raw() as client:
        client.send(head(b"POST /cancelling HTTP/1.1", b"Host: test", b"Content-Length: 10") + b"first")
        server.wait_for_log("cancelled receive")
        client.send(b"later")
        assert client.read_response().body == b"firstlater"


def test_a_task_may_cancel_itself_and_go_on(server):
    with server.raw() as client:
        for _ in range(2):
            assert client.ask(get(target=b"/cancelling_itself")).body == b"cancelled"


def test_a_send_that_was_cancelled_leaves_the_connection_usable_or_cut(server):
    with server.raw(timeout=10, receive_buffer=8192) as client:
        client.send(get(target=b"/cancelling_send"))
        server.wait_for_log("send cancelled after")
        body = client.read_response().body
        assert body.endswith(b"end") and set(body[:-3]) == set(b"x")
    server.wait_for_log("send went on")


def test_a_task_group_watches_for_the_end_while_it_sends(server):
    with server.raw() as client:
        for _ in range(3):
            assert client.ask(get(target=b"/grouped")).body == b"piece piece piece "


def test_deadlines_and_threads_of_anyio_work(server):
    with server.raw() as client:
        assert client.ask(post(b"hello", target=b"/deadline")).json() == [True, "thread"]


def test_two_that_wait_for_the_end_are_both_told(server):
    with server.raw() as client:
        client.send(get(target=b"/receivers"))
        server.wait_for_log("two wait")
        time.sleep(0.3)
        client.reset()
    server.wait_for_log(r"both got \['http.disconnect', 'http.disconnect'\]")


def test_threads_of_the_loop_hold_up_no_other_request(server):
    with server.raw() as client:
        client.send(get(target=b"/blocking/0.5"))
        began = time.monotonic()
        assert server.get("/at_once/x").status == 200
        assert time.monotonic() - began < 0.3
        assert client.read_response().body == b"slept in a thread"


def test_no_task_is_left_behind(server):
    before = int(server.get("/left").body)
    with server.raw() as client:
        for number in range(50):
            client.ask(get(target=b"/variable/%d" % number) if number % 10 == 0 else get(target=b"/at_once/x"))
            client.ask(post(b"hello", target=b"/created"))
    until(lambda: int(server.get("/left").body) == before)


def test_hundreds_of_requests_wait_at_once(server):
    with contextlib.ExitStack() as scope:
        clients = [scope.enter_context(server.raw(timeout=20)) for _ in range(500)]
        for client in clients:
            client.send(get(target=b"/variable/a"))
        for client in clients:
            assert client.read_response().json()[:2] == ["nobody", "a"]
