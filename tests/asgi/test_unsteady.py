"""Clients and applications that leave each other waiting: nobody is blamed for what the other does, and nothing is lost or held without bound."""

from __future__ import annotations

import threading
import time

from harness.request import get, post
from harness.websocket import PING, PONG, TEXT, Frame, close, frame, opened

# More than sockets and the server hold of a client's pings and its own answers.
FLOOD = 200_000


def test_a_request_that_is_shed_while_its_body_comes_is_answered(serve_asgi, loop):
    server = serve_asgi("unsteady:app", "--loop", loop, "--max-concurrency", "1")
    with server.raw() as first, server.raw() as second:
        first.send(_part_of_post(b"/wait"))
        server.wait_for_log("begun")
        second.send(_part_of_post(b"/hello"))
        time.sleep(0.1)
        first.send(b"o")
        assert first.read_response().body == b"waited"
        second.send(b"o")
        assert second.read_response().status == 503
        assert second.ask(get(target=b"/hello")).status == 200


def test_a_body_that_comes_after_its_head_is_one_event(share_asgi, loop):
    server = share_asgi("unsteady:app", "--loop", loop)
    with server.raw() as client:
        whole = post(b"hello", target=b"/pieces")
        client.send(whole[:-5])
        time.sleep(0.1)
        client.send(whole[-5:])
        assert client.read_response().json() == [["hello", False]]


def test_a_body_is_not_late_that_the_application_does_not_come_for(serve_asgi, loop):
    server = serve_asgi("unsteady:app", "--loop", loop, "--body-timeout", "1")
    whole = post(b"hello", target=b"/block")
    with server.raw(15) as blocked, server.raw(15) as given_up:
        blocked.send(whole[:-5])
        server.wait_for_log("blocking")
        blocked.send(whole[-5:-1])
        assert blocked.read_response().body == b"hell"
        given_up.send(post(b"hello", target=b"/give-up")[:-5])
        server.wait_for_log("given up")
        time.sleep(2)
        given_up.send(b"hello")
        assert given_up.read_response().body == b"hello"


def test_two_tasks_may_wait_for_the_same_body(serve_asgi, loop):
    server = serve_asgi("unsteady:app", "--loop", loop)
    whole = post(b"hello", target=b"/both")
    with server.raw() as client:
        client.send(whole[:-5])
        server.wait_for_log("begun")
        client.send(b"he")
        time.sleep(0.1)
        client.send(b"llo")
        assert client.read_response().json() == ["he", "llo"]


def test_who_waits_in_receive_learns_of_the_end(serve_asgi, loop):
    server = serve_asgi("unsteady:app", "--loop", loop)
    with server.raw() as client:
        assert client.ask(get(target=b"/listen")).body == b"answered"
        server.wait_for_log("then http.disconnect")
    with opened(server, "/listen") as websocket:
        assert websocket.read_close()[0] == 4000
        server.wait_for_log("then websocket.disconnect")


def test_pings_are_answered_when_the_application_has_given_up_waiting(share_asgi, loop):
    server = share_asgi("unsteady:app", "--loop", loop)
    with opened(server, "/give-up") as websocket:
        assert websocket.read_message() == "gave up"
        for payload in (b"one", b"two"):
            websocket.send(frame(PING, payload))
            assert websocket.read() == Frame(PONG, payload)


def test_a_client_whose_pong_the_application_keeps_from_being_read_stays(serve_asgi, loop):
    intervals = ("--ws-ping-interval", "0.5", "--ws-ping-timeout", "0.5")
    server = serve_asgi("unsteady:app", "--loop", loop, "--ws-max-queue", "2", *intervals)
    with opened(server, "/slow") as websocket:
        websocket.send(*[frame(TEXT, b"%d" % number) for number in range(5)])
        assert [websocket.read_message() for _ in range(5)] == ["0", "1", "2", "3", "4"]


def test_nothing_follows_a_close_frame(serve_asgi, loop):
    server = serve_asgi("unsteady:app", "--loop", loop)
    with opened(server, "/late") as websocket:
        websocket.send(close(1000))
        assert websocket.is_failed_with(1000)
    server.wait_for_log("closed by then")


def test_pings_without_end_hold_up_nobody_and_nothing_without_bound(share_asgi, loop):
    server = share_asgi("unsteady:app", "--loop", loop)
    with opened(server, "/echo", timeout=30) as websocket:
        sender = threading.Thread(target=websocket.send, args=(frame(PING, b"x" * 125) * FLOOD,))
        sender.start()
        assert server.get("/hello").status == 200
        sender.join(3)
        assert sender.is_alive(), "the server has taken all pings, and holds the answers"
        pongs = websocket.client.read_exactly(FLOOD * 127)
        assert pongs == (b"\x8a\x7d" + b"x" * 125) * FLOOD
        sender.join()
        websocket.send(frame(TEXT, b"after"))
        assert websocket.read_message() == "after"


def _part_of_post(path: bytes) -> bytes:
    """A request without the last byte of its body, which is an o."""
    return post(b"hello", target=path)[:-1]
