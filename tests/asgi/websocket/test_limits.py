"""What a client or an application may make the server hold: sizes, queues, and back-pressure in both directions."""

import json
import struct
import time

import pytest

from harness import process
from harness.response import Aborted
from harness.waiting import until
from harness.websocket import BINARY, CONTINUATION, PING, PONG, TEXT, Frame, close, frame, opened

LOAD = "ws_load:app"


@pytest.fixture
def server(serve_asgi, loop):
    return serve_asgi(LOAD, "--loop", loop)


def flood(socket, message, patience=0.5, at_most=256 << 20):
    """Sends the message again and again until the server takes no more for that long; gives how often it was sent whole, and what is missing
    of the last one.
    """
    data = message * max(1, 65536 // len(message))
    socket.client.socket.settimeout(patience)
    sent = 0
    try:
        while sent < at_most:
            sent += socket.client.socket.send(data[sent % len(data) :])
    except TimeoutError:
        return sent // len(message), message[sent % len(message) :]
    raise AssertionError(f"the server took {sent} bytes of a client that it should stop")


def test_a_message_above_the_limit_closes_with_1009(serve_asgi, loop):
    server = serve_asgi("ws_echo:app", "--ws-max-size", "1000", "--loop", loop)
    with opened(server) as socket:
        socket.send(frame(BINARY, bytes(1000)))
        assert socket.read_message() == bytes(1000)
        socket.send(frame(BINARY, bytes(1001)))
        assert socket.is_failed_with(1009)
    with opened(server) as socket:
        socket.send(frame(BINARY, bytes(500), fin=False), frame(CONTINUATION, bytes(501)))
        assert socket.is_failed_with(1009)


def test_the_default_limit_is_16_mib(share_asgi):
    server = share_asgi("ws_echo:app")
    with opened(server, timeout=20) as socket:
        socket.send(frame(BINARY, bytes(16 << 20)))
        assert len(socket.read_message()) == 16 << 20
        socket.send(frame(BINARY, b"", length=struct.pack("!BQ", 127, (16 << 20) + 1)))
        assert socket.is_failed_with(1009)


@pytest.mark.parametrize("size", [(1 << 63) - 1, 1 << 40, 17 << 20])
def test_what_is_announced_beyond_the_limit_is_refused_before_it_comes(share_asgi, size):
    server = share_asgi("ws_echo:app")
    with opened(server) as socket:
        before = process.resident(server.pid)
        socket.send(frame(BINARY, b"", length=struct.pack("!BQ", 127, size)))
        assert socket.is_failed_with(1009)
        assert process.resident(server.pid) - before < 4 << 20


def test_what_is_only_announced_takes_no_memory(server):
    before = process.resident(server.pid)
    sockets = [opened(server, "/echo") for _ in range(50)]
    for socket in sockets:
        socket.send(frame(BINARY, b"", length=struct.pack("!BQ", 127, 16 << 20)), b"x" * 100)
    with opened(server, "/echo") as other:
        other.send(frame(TEXT, b"done"))
        assert other.read_message() == "done"
    assert process.resident(server.pid) - before < 20 << 20
    for socket in sockets:
        socket.client.close()


@pytest.mark.parametrize("size", [1, 1000, 65536, 1 << 20])
def test_an_application_that_does_not_receive_stops_its_client(server, size):
    with opened(server, "/hold", timeout=30) as socket:
        server.wait_for_log("told holding")
        before = process.resident(server.pid)
        message = frame(BINARY, bytes(size))
        whole, rest = flood(socket, message)
        assert process.resident(server.pid) - before < 16 << 20
        busy = process.cpu_seconds(server.pid)
        time.sleep(0.5)
        assert process.cpu_seconds(server.pid) - busy < 0.1, "waiting is not spinning"
        with opened(server, "/release"):
            socket.client.extend()
            socket.send(rest, frame(TEXT, b"end"))
        assert socket.read_message() == f"{whole + 1} {(whole + 1) * size}"


def test_no_more_messages_wait_than_the_queue_may_hold(serve_asgi, loop):
    """What else there is waits in the kernel's buffers: it fills up with less than one message sent for each of the queue."""
    taken = []
    for queue in ("2", "32"):
        server = serve_asgi(LOAD, "--ws-max-queue", queue, "--asgi-receive-buffer", "64MiB", "--loop", loop)
        with opened(server, "/hold") as socket:
            server.wait_for_log("told holding")
            taken.append(flood(socket, frame(BINARY, bytes(1 << 20)))[0])
            opened(server, "/release").client.close()
    assert 20 <= taken[1] - taken[0] <= 40


def test_a_ping_is_answered_while_the_application_does_not_receive(server):
    with opened(server, "/hold") as socket:
        server.wait_for_log("told holding")
        socket.send(frame(TEXT, b"waits"), frame(PING, b"you there?"))
        assert socket.read() == Frame(PONG, b"you there?")
        opened(server, "/release").client.close()


def test_pings_that_nobody_reads_the_answers_of_take_no_memory(server):
    with opened(server, "/echo", receive_buffer=4096) as socket:
        before = process.resident(server.pid)
        flood(socket, frame(PING, b"x" * 125), at_most=64 << 20)
        assert process.resident(server.pid) - before < 8 << 20


def test_a_client_that_does_not_read_makes_send_wait_and_is_let_go(serve_asgi, loop):
    server = serve_asgi(LOAD, "--write-timeout", "1s", "--loop", loop)
    with opened(server, "/pour/65536", receive_buffer=4096) as socket:
        before = process.resident(server.pid)
        (kinds, _), sent, seconds = json.loads(server.wait_for_log(r"told poured (.*)", 10).group(1))
        assert process.resident(server.pid) - before < 8 << 20
        assert "OSError" in kinds
        assert sent < 200, "what is beyond the buffers waits in send"
        assert 0.9 < seconds < 4
        socket.client.extend()
        with pytest.raises((Aborted, ConnectionResetError)):
            while socket.read():
                pass


def test_a_client_that_reads_slowly_is_not_let_go(serve_asgi, loop):
    server = serve_asgi(LOAD, "--write-timeout", "1s", "--loop", loop)
    with opened(server, "/pour/65536", timeout=20) as socket:
        for _ in range(40):
            time.sleep(0.05)
            assert socket.client.read_exactly(1 << 19)
        assert "told poured" not in server.log()
        socket.client.close()
        server.wait_for_log("told poured")


def test_the_loop_serves_others_while_one_sends_without_end(server):
    with opened(server, "/pour/65536", receive_buffer=4096), opened(server, "/echo") as other:
        for number in range(20):
            other.send(frame(TEXT, b"%d" % number))
            assert other.read_message() == str(number)
        other.shut()


def test_a_message_in_bytes_that_drip_takes_linear_time(server):
    with opened(server, "/echo", timeout=30) as socket:
        busy = process.cpu_seconds(server.pid)
        whole = frame(BINARY, bytes(8 << 20))
        for start in range(0, len(whole), 4096):
            socket.client.send(whole[start : start + 4096])
        assert len(socket.read_message()) == 8 << 20
        assert process.cpu_seconds(server.pid) - busy < 2


def test_a_message_in_tiny_fragments_takes_linear_time(server):
    with opened(server, "/echo", timeout=30) as socket:
        busy = process.cpu_seconds(server.pid)
        part = frame(CONTINUATION, b"x", fin=False)
        socket.send(frame(BINARY, b"x", fin=False), part * 200_000, frame(CONTINUATION, b"x"))
        assert socket.read_message() == b"x" * 200_002
        assert process.cpu_seconds(server.pid) - busy < 2


def test_descriptors_of_clients_that_closed_are_given_back(server):
    opened(server, "/echo").shut()
    before = process.descriptors(server.pid)
    for _ in range(20):
        with opened(server, "/echo") as socket:
            socket.send(close(1000))
    until(lambda: process.descriptors(server.pid) <= before, what="descriptors given back")
