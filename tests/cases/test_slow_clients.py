"""Slow and greedy clients: what they take is bounded, and nobody else notices them."""

import contextlib
import itertools
import signal
import time

import pytest

from harness import process
from harness.request import get, head
from harness.stream import read_watching_memory
from harness.waiting import until

MIB = 1024 * 1024


def test_a_thousand_slow_clients_do_not_slow_a_request_and_end_at_the_head_deadline(serve):
    server = serve("hello:app", "--head-timeout", "4s", "--keep-alive", "4s")
    with contextlib.ExitStack() as scope:
        clients = [scope.enter_context(server.raw(timeout=20)) for _ in range(1000)]
        silent, stopped, dripping = clients[0::3], clients[1::3], clients[2::3]
        for client in stopped:
            client.send(b"GET / HTTP/1.1\r\n")
        for byte in b"GET /":
            for client in dripping:
                client.send_pieces([bytes([byte])])
            assert_prompt(server)
        assert all(client.is_closed() for client in silent)
        assert {client.read_response().status for client in stopped + dripping} == {408}


def test_a_stream_to_a_reader_of_a_kilobyte_a_second_keeps_memory_flat(serve):
    server = serve("streams:app", "--write-timeout", "30s")
    with server.raw(receive_buffer=8192) as client:
        client.send(get(target=b"/large"))
        client.receive(1024)
        before = process.resident(server.pid)
        for _ in range(4):
            time.sleep(0.5)
            client.receive(512)
        assert process.resident(server.pid) - before < 4 * MIB
        assert_prompt(server)


def test_all_of_two_gigabytes_arrives_while_memory_stays_flat(serve):
    server = serve("streams:app")
    with server.raw(timeout=50) as client:
        client.send(head(b"GET /large HTTP/1.0"))
        received, grown = read_watching_memory(client, server.pid)
        assert received >= 32768 * 65536
    assert grown < 8 * MIB


def test_the_write_deadline_ends_a_stream_and_closes_its_iterator(serve):
    server = serve("streams:app", "--write-timeout", "500ms")
    with server.raw(receive_buffer=8192) as client:
        client.send(get(target=b"/large"))
        until(lambda: b"closed after" in server.get("/log").body)


def test_an_iterator_is_closed_when_its_client_goes(serve):
    server = serve("streams:app")
    with server.raw() as client:
        client.send(get(target=b"/large"))
        client.receive(1024)
    until(lambda: b"closed after" in server.get("/log").body)


def test_uploads_that_end_one_byte_short_leave_nothing_behind(serve):
    server = serve("hello:app", "--body-buffer", "64KiB")
    request = head(b"POST / HTTP/1.1", b"Host: test", b"Content-Length: 99999") + b"x" * 99_998
    give_up(server, request, 500)
    until(lambda: process.deleted_files(server.pid) == 0)
    descriptors, memory = process.descriptors(server.pid), process.resident(server.pid)
    give_up(server, request, 9_500)
    until(lambda: process.deleted_files(server.pid) == 0)
    until(lambda: process.descriptors(server.pid) <= descriptors)
    assert process.resident(server.pid) - memory < 8 * MIB


def test_a_silent_connection_does_not_hold_the_only_worker(share):
    server = share("hello:app")
    with server.raw():
        assert_prompt(server)


@pytest.mark.parametrize(
    "begun", [b"GET / HTTP/1.1\r\nHost", b"POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\nhalf"]
)
def test_as_many_half_sent_requests_as_threads_hold_none(share, begun):
    server = share("hello:app", "--threads", "4")
    with server.raw() as first, server.raw() as second, server.raw() as third, server.raw() as fourth:
        for client in (first, second, third, fourth):
            client.send(begun)
        assert_prompt(server)


def test_a_health_check_is_answered_at_once_beside_half_sent_requests_and_threads_that_are_all_busy(serve):
    server = serve("naps:app", "--threads", "4", "--health", "/health")
    with contextlib.ExitStack() as scope:
        clients = [scope.enter_context(server.raw()) for _ in range(8)]
        for number, client in enumerate(clients[:4]):
            client.send(b"POST /half/0 HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\nhalf")
            clients[4 + number].send(get(target=b"/busy-%d/2" % number))
        for number in range(4):
            server.wait_for_log(f"napping /busy-{number}")
        started = time.monotonic()
        assert server.get("/health").status == 200
        assert time.monotonic() - started < 0.5


def test_slow_readers_of_a_whole_body_hold_no_thread(share):
    server = share("streams:app", "--threads", "2")
    with contextlib.ExitStack() as scope:
        for _ in range(4):
            client = scope.enter_context(server.raw(receive_buffer=8192))
            client.send(get(target=b"/list"))
            client.receive(1024)
        assert_prompt(server)


def test_requests_whose_clients_gave_up_are_not_run(serve):
    server = serve("naps:app", "--threads", "1")
    with server.raw(timeout=10) as first:
        first.send(get(target=b"/first/2"))
        until(lambda: len(server.log().split("napping /first")) > 1)
        waiting = [server.raw() for _ in range(10)]
        for number, client in enumerate(waiting):
            client.send(get(target=b"/waiting-%d/0" % number))
        time.sleep(0.6)
        for client in waiting:
            client.close()
        assert first.read_response().status == 200
        assert server.get("/last/0").status == 200
    assert "napping /waiting" not in server.log()


def assert_prompt(server):
    """A request on a new connection is answered at once."""
    started = time.monotonic()
    assert server.get("/log").status == 200
    assert time.monotonic() - started < 0.5


def give_up(server, request, times):
    """Sends that and ends the connection, so many times; every third time with RST."""
    for _ in range(times):
        with server.raw() as client:
            client.send_pieces([request])
            if next(RESETS):
                client.reset()


RESETS = itertools.cycle([False, False, True])


def test_what_came_while_the_process_was_stopped_is_not_late(serve):
    server = serve("hello:app", "--keep-alive", "1s", "--head-timeout", "1s")
    with server.raw() as idle, server.raw() as begun:
        assert idle.ask(get()).status == 200
        begun.send(b"GET / HTTP/1.1\r\n")
        server.signal(signal.SIGSTOP)
        idle.send(get())
        begun.send(b"Host: test\r\n\r\n")
        time.sleep(1.5)
        server.signal(signal.SIGCONT)
        assert begun.read_response().status == 200
        assert idle.read_response().status == 200
