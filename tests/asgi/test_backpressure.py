"""Neither a client nor an application makes the server hold more than a bound."""

import contextlib
import random
import threading
import time

import pytest

from harness import process
from harness.request import get, head
from harness.stream import read_watching_memory
from harness.waiting import until

MIB = 1024 * 1024
UPLOAD = 200 * MIB
# What the kernel's buffers and the server's may hold of an upload that nobody reads.
HELD = 24 * MIB


@pytest.fixture
def streams(serve_asgi, loop):
    """A function that starts a server of streams, on each event loop."""

    def start(*args):
        return serve_asgi("streams:app", "--loop", loop, *args)

    return start


class Upload(threading.Thread):
    """A client that sends `UPLOAD` bytes as fast as it may and reads the answer."""

    def __init__(self, server, chunked=False):
        super().__init__(daemon=True)
        self.client = server.raw(timeout=50)
        self.chunked = chunked
        self.sent = 0
        self.response = None

    def run(self):
        framing = b"Transfer-Encoding: chunked" if self.chunked else b"Content-Length: %d" % UPLOAD
        self.client.send(head(b"POST /upload HTTP/1.1", b"Host: test", framing))
        piece = b"10000\r\n" + b"x" * 65536 + b"\r\n" if self.chunked else b"x" * 65536
        for _ in range(UPLOAD // 65536):
            self.client.send(piece)
            self.sent += 65536
        if self.chunked:
            self.client.send(b"0\r\n\r\n")
        self.response = self.client.read_response()


@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunked"])
def test_an_application_that_does_not_read_stops_its_client(streams, chunked):
    server = streams("--max-body", "300m", "--body-timeout", "1s", "--request-timeout", "0")
    assert server.get("/count").status == 200
    before = process.resident(server.pid)
    upload = Upload(server, chunked)
    upload.start()
    settled(lambda: upload.sent)
    time.sleep(1.5)  # Longer than the deadline for a body: it is the application that pauses, not the client.
    assert upload.sent < HELD
    assert process.resident(server.pid) - before < HELD
    assert server.get("/begin").status == 200
    most = 0
    while upload.is_alive():
        most = max(most, process.resident(server.pid))
        time.sleep(0.01)
    total, largest = map(int, upload.response.body.split())
    assert total == UPLOAD
    assert largest < 4 * MIB
    assert most - before < HELD


def test_send_waits_for_a_reader_of_a_kilobyte_a_second_and_memory_stays_flat(streams):
    server = streams("--write-timeout", "30s")
    with server.raw(receive_buffer=8192) as client:
        client.send(get(target=b"/large"))
        client.receive(1024)
        sent = settled(lambda: int(server.get("/count").body))
        before = process.resident(server.pid)
        for _ in range(4):
            time.sleep(0.5)
            client.receive(512)
        assert int(server.get("/count").body) - sent <= 2
        assert sent * 65536 < HELD
        assert process.resident(server.pid) - before < 4 * MIB


def test_all_of_two_gigabytes_arrives_while_memory_stays_flat(streams):
    server = streams()
    with server.raw(timeout=55) as client:
        client.send(head(b"GET /large HTTP/1.0"))
        received, grown = read_watching_memory(client, server.pid)
    assert received >= 32768 * 65536
    assert grown < 8 * MIB
    assert server.get("/log").body == b"sent all"


@pytest.mark.parametrize("size", [1, 997, 65536])
@pytest.mark.parametrize("way", ["TCP", "Unix socket"])
def test_a_chunked_stream_to_a_reader_that_pauses_arrives_whole(streams, tmp_path, size, way):
    """A Unix socket gets full at the end of a call, so that every part of a chunk is once the first that waits."""
    server = streams(*([] if way == "TCP" else ["--uds", str(tmp_path / "s")]))
    with server.raw(timeout=40, receive_buffer=8192) as client:
        client.send(get(b"Connection: close", target=b"/varied/%d" % size))
        chance, received = random.Random(size), []
        while piece := client.receive(chance.choice([1, 1000, 65536])):
            received.append(piece)
            if chance.random() < 0.01:
                time.sleep(0.02)
    _, _, body = b"".join(received).partition(b"\r\n\r\n")
    assert body.endswith(b"\r\n0\r\n\r\n")
    assert chunk_sizes(body) == [size + number % 7 for number in range(min(20_000_000 // size, 20_000))]


def test_the_write_deadline_ends_a_stream_and_send_raises(streams):
    server = streams("--write-timeout", "500ms")
    with server.raw(receive_buffer=8192) as client:
        client.send(get(target=b"/large"))
        until(lambda: b"(True) after" in server.get("/log").body)


def test_the_write_deadline_ends_one_large_message_too(streams):
    server = streams("--write-timeout", "500ms")
    assert server.get("/count").status == 200
    descriptors = process.descriptors(server.pid)
    with server.raw(receive_buffer=8192) as client:
        client.send(get(target=b"/huge/50000000"))
        client.receive(1)
        until(lambda: process.descriptors(server.pid) <= descriptors)


def test_a_message_larger_than_every_buffer_arrives_whole(streams):
    server = streams()
    with server.raw(timeout=20) as client:
        for _ in range(3):
            assert len(client.ask(get(target=b"/huge/50000000")).body) == 50_000_000


def test_send_raises_when_the_client_of_a_stream_goes(streams):
    server = streams()
    with server.raw() as client:
        client.send(get(target=b"/large"))
        client.receive(1024)
    until(lambda: b"(True) after" in server.get("/log").body)


def test_a_reader_that_stops_holds_up_no_other(streams):
    server = streams()
    with contextlib.ExitStack() as scope:
        for _ in range(20):
            client = scope.enter_context(server.raw(receive_buffer=8192))
            client.send(get(target=b"/large"))
            client.receive(1024)
        started = time.monotonic()
        assert server.get("/log").status == 200
        assert time.monotonic() - started < 0.5


def chunk_sizes(body):
    """The sizes of the chunks of a whole body, without the last one."""
    sizes, at = [], 0
    while True:
        end = body.index(b"\r\n", at)
        size = int(body[at:end], 16)
        at = end + 2 + size
        assert body[at : at + 2] == b"\r\n", f"the chunk before {at} has not the size it says"
        at += 2
        if size == 0:
            return sizes
        sizes.append(size)


def settled(value):
    """The value, once it has not changed for half a second."""
    last, since = value(), time.monotonic()
    while time.monotonic() - since < 0.5:
        if (now := value()) != last:
            last, since = now, time.monotonic()
        time.sleep(0.05)
    return last
