"""Ending, keeping connections, and the sizes at which buffers change."""

import signal
import threading
import time

import pytest

from harness.request import chunked, chunks, get, post
from harness.response import Aborted
from harness.site import Site

SIZES = [1, 4095, 4096, 4097, 65535, 65536, 65537, 1048575, 1048576, 1048577, 3000000]


def test_requests_in_flight_are_answered_before_the_process_ends(serve):
    server = serve("naps:app")
    with server.raw() as first, server.raw() as second:
        first.send(get(target=b"/first/1"))
        second.send(get(target=b"/second/1"))
        server.wait_for_log("napping /first")
        server.wait_for_log("napping /second")
        server.signal(signal.SIGTERM)
        for client, name in ((first, b"first"), (second, b"second")):
            response = client.read_response()
            assert (response.status, response.body) == (200, b"napped " + name + b"\n")
            assert response.closes
            assert client.is_closed()
    assert server.wait() == 0


def test_requests_in_the_queue_are_answered_before_the_process_ends(serve):
    server = serve("naps:app", "--threads", "1")
    with server.raw() as first, server.raw() as second:
        first.send(get(target=b"/first/0.5"))
        server.wait_for_log("napping /first")
        second.send(get(target=b"/second/0"))
        server.signal(signal.SIGTERM)
        assert first.read_response().status == 200
        assert second.read_response().status == 200
    assert server.wait() == 0


def test_a_client_that_never_pauses_is_told_to_close(serve):
    server = serve("hello:app", "--graceful-timeout", "5s")
    with server.raw() as client:
        for count in range(1_000_000):
            if count == 50:
                server.signal(signal.SIGTERM)
            if client.ask(get()).closes:
                break
        assert client.is_closed()
    assert count >= 50
    assert server.wait(3) == 0


def test_idle_connections_do_not_hold_the_drain(serve):
    server = serve("hello:app")
    with server.raw() as idle:
        assert idle.ask(get()).status == 200
        server.signal(signal.SIGTERM)
        assert idle.is_closed()
        assert server.wait(3) == 0


def test_a_request_that_arrives_as_the_drain_begins_is_answered(serve):
    server = serve("hello:app")
    with server.raw() as client:
        assert client.ask(get()).status == 200
        server.signal(signal.SIGTERM)
        server.wait_for_log("SIGTERM")
        response = client.ask(get())
        assert response.status == 200 and response.closes
        assert client.is_closed()
    assert server.wait(3) == 0


def test_nobody_can_connect_once_the_drain_has_begun(serve):
    server = serve("naps:app")
    with server.raw() as client:
        client.send(get(target=b"/first/1"))
        server.wait_for_log("napping /first")
        server.signal(signal.SIGTERM)
        refused_within(server, 1)
        assert client.read_response().status == 200
    assert server.wait() == 0


def test_the_graceful_deadline_ends_what_does_not_end_itself(serve):
    server = serve("naps:app", "--graceful-timeout", "500ms")
    with server.raw() as client:
        client.send(get(target=b"/long/30"))
        server.wait_for_log("napping /long")
        started = time.monotonic()
        server.signal(signal.SIGTERM)
        assert server.wait(5) == 1
        assert time.monotonic() - started < 4
        with pytest.raises(Aborted):
            client.read_response()


def test_a_second_interrupt_ends_the_process_at_once(serve):
    server = serve("naps:app")
    with server.raw() as client:
        client.send(get(target=b"/long/30"))
        server.wait_for_log("napping /long")
        server.signal(signal.SIGINT)
        refused_within(server, 1)
        server.signal(signal.SIGINT)
        assert server.wait(3) == 130


def test_a_list_of_one_element_gets_its_length_on_a_kept_alive_connection(share):
    with share("hello:app").raw() as client:
        for _ in range(3):
            response = client.ask(get())
            assert response.get("content-length") == str(len(b"Hello, world!\n"))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("how", ["with the head", "apart", "chunked"])
def test_a_body_arrives_byte_for_byte(share, size, how):
    body = (bytes(range(256)) * (size // 256 + 1))[:size]
    request = (
        chunked(chunks(*(body[at : at + 10000] for at in range(0, size, 10000)))) if how == "chunked" else post(body)
    )
    site = Site(share("echo:app"), delivery=apart if how == "apart" else lambda data: [data])
    site.answers(request, body=body.decode("latin-1"))


def test_every_connection_has_its_own_answer(share):
    server = share("echo:app")
    failures = []

    def ask(number):
        with server.raw() as client:
            for count in range(50):
                path = f"/{number}/{count}"
                if client.ask(get(target=path.encode())).json()["path"] != path:
                    failures.append(path)

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def apart(request):
    """The head, and a moment later the body."""
    head, _, body = request.partition(b"\r\n\r\n")
    yield head + b"\r\n\r\n"
    time.sleep(0.01)
    yield body


def refused_within(server, seconds):
    """The listening socket goes away within that time."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        try:
            server.raw().close()
        except ConnectionRefusedError:
            return
        time.sleep(0.01)
    pytest.fail(f"connections are still accepted {seconds} s after the drain began")
