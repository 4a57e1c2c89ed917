"""Clients that go: the application learns of it at once, and what it sends then raises; a half-close is none."""

import socket
import time

import pytest

from harness import process
from harness.request import chunked, chunks, get, head, post
from harness.waiting import until

PROMPT = 1.0


@pytest.fixture
def server(serve_asgi, loop):
    """The application whose clients go, on each event loop."""
    return serve_asgi("disconnects:app", "--loop", loop)


def leave(client, how):
    """Ends the connection with FIN or RST."""
    client.reset() if how == "RST" else client.close()


HOW = pytest.mark.parametrize("how", ["FIN", "RST"])


@HOW
@pytest.mark.parametrize("name", ["waiting", "again", "racing"])
def test_a_client_that_goes_is_told_at_once_to_who_waits_for_it(server, how, name):
    with server.raw() as client:
        client.send(post(b"hello", target=f"/{name}".encode()))
        time.sleep(0.4)
        assert "got" not in server.log()
        began = time.monotonic()
        leave(client, how)
        server.wait_for_log("got .*http.disconnect")
        assert time.monotonic() - began < PROMPT


@HOW
def test_a_client_that_goes_in_its_upload_is_told_at_once(server, how):
    with server.raw() as client:
        client.send(head(b"POST /upload HTTP/1.1", b"Host: test", b"Content-Length: 10") + b"half")
        server.wait_for_log("waiting")
        leave(client, how)
        server.wait_for_log("got {'type': 'http.disconnect'}", within=PROMPT)


@HOW
def test_a_client_that_went_during_other_work_is_told_at_the_next_receive(server, how):
    with server.raw() as client:
        client.send(get(target=b"/sleeping/1"))
        server.wait_for_log("waiting")
        time.sleep(0.4)
        leave(client, how)
    server.wait_for_log("got http.disconnect prompt")


@HOW
@pytest.mark.parametrize("name", ["sending/1", "sending_after_notice"])
def test_send_raises_oserror_when_the_client_has_gone(server, how, name):
    with server.raw() as client:
        client.send(get(target=f"/{name}".encode()))
        server.wait_for_log("waiting")
        time.sleep(0.4)
        leave(client, how)
    assert len(server.wait_for_log("raised True (.*)")[1]) > 10


def test_a_lost_client_is_no_error_of_the_application(server):
    with server.raw() as client:
        client.send(get(target=b"/sending/0.1"))
        server.wait_for_log("waiting")
        client.reset()
    server.wait_for_log("raised True")
    assert server.get("/left").status == 200
    assert "ERROR" not in server.log() and "Traceback" not in server.log()


def test_work_goes_on_when_its_client_has_gone(server):
    with server.raw() as client:
        client.send(get(target=b"/stubborn/1"))
        time.sleep(0.1)
        client.reset()
    server.wait_for_log("work is done")


REQUESTS = [get, lambda target: post(b"body", target=target), lambda target: chunked(chunks(b"body"), target=target)]


@pytest.mark.parametrize("request_to", REQUESTS, ids=["get", "post", "chunked"])
@pytest.mark.parametrize("name", ["slow/0", "slow/0.4"])
def test_a_client_that_half_closes_with_its_request_gets_its_reply(server, request_to, name):
    with server.raw() as client:
        # Held back until the FIN goes out with it.
        client.socket.send(request_to(target=f"/{name}".encode()), socket.MSG_MORE)
        client.half_close()
        (response,) = client.read_to_end()
    assert response.status == 200 and response.body.endswith(b" slept")


@pytest.mark.parametrize("request_to", REQUESTS, ids=["get", "post", "chunked"])
@pytest.mark.parametrize("name", ["slow/0", "slow/0.4"])
def test_a_client_that_half_closes_behind_its_request_gets_its_reply(server, request_to, name):
    with server.raw() as client:
        client.send(request_to(target=f"/{name}".encode()))
        client.half_close()
        (response,) = client.read_to_end()
    assert response.status == 200 and response.body.endswith(b" slept")


def test_a_client_that_half_closes_with_its_request_gets_a_whole_stream(server):
    with server.raw() as client:
        client.send(get(target=b"/stream"))
        client.half_close()
        (response,) = client.read_to_end()
    assert response.body == b"piece0 piece1 piece2 "


def test_a_client_that_half_closes_later_still_gets_what_is_sent(server):
    with server.raw() as client:
        client.send(get(target=b"/slow/1"))
        time.sleep(0.5)
        client.half_close()
        (response,) = client.read_to_end()
    assert response.body == b" slept"


def test_pipelined_requests_before_a_half_close_are_answered(server):
    with server.raw() as client:
        client.send(get(target=b"/slow/0.2") + get(target=b"/slow/0") + get(target=b"/slow/0.1"))
        client.half_close()
        assert [one.body for one in client.read_to_end()] == [b" slept"] * 3


@HOW
def test_a_client_that_has_gone_does_not_keep_the_processor_busy(server, how):
    with server.raw() as client:
        client.send(get(target=b"/stubborn/2"))
        time.sleep(0.2)
        leave(client, how)
    before = process.cpu_seconds(server.pid)
    server.wait_for_log("work is done")
    assert process.cpu_seconds(server.pid) - before < 0.2


@HOW
def test_connections_and_tasks_of_clients_that_went_are_gone(server, how):
    before = server.get("/left").json()["tasks"]
    descriptors = process.descriptors(server.pid)
    for _ in range(50):
        with server.raw() as client:
            client.send(get(target=b"/waiting"))
            leave(client, how)
    until(lambda: server.get("/left").json()["tasks"] == before)
    until(lambda: process.descriptors(server.pid) <= descriptors)
