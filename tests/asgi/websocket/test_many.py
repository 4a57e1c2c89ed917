"""Many WebSockets: what they cost while they are idle, and that those that have gone leave nothing behind."""

import random
from contextlib import ExitStack

import pytest
from websockets.sync.client import connect

from harness import process
from harness.waiting import until
from harness.websocket import BINARY, PING, TEXT, close, frame, handshake, opened

LOAD = "ws_load:app"
OFFER = b"Sec-WebSocket-Extensions: permessage-deflate"


@pytest.fixture
def server(serve_asgi, loop):
    return serve_asgi(LOAD, "--loop", loop)


def tasks(server):
    """How many tasks the server's event loop has, one of them for the question."""
    with opened(server, "/count") as socket:
        socket.send(frame(TEXT, b"?"))
        count = int(socket.read_message())
        socket.shut()
        return count


def disconnect(server, generator):
    """Opens a WebSocket and leaves it at a random moment, in a random way."""
    request = handshake(
        *generator.choice([[], [OFFER]]), target=generator.choice([b"/echo", b"/pour/1000", b"/block/0"])
    )
    whole = frame(BINARY, generator.randbytes(generator.choice([1, 200, 70_000])))
    talk = request + b"".join(generator.choice([whole, frame(PING, b"x"), close(1000)]) for _ in range(3))
    with server.raw() as client:
        if generator.random() < 0.5:
            client.send(request)
            client.read_response()
            talk = talk[len(request) :]
        client.send_pieces([talk[: generator.randrange(len(talk))]])
        if generator.random() < 0.3:
            client.reset()
        elif generator.random() < 0.3:
            client.half_close()


def test_a_thousand_disconnects_at_random_moments_leave_nothing_behind(server):
    generator = random.Random(5)
    for _ in range(200):
        disconnect(server, generator)
    until(lambda: tasks(server) <= 2, what="the tasks have ended")
    before, descriptors = process.resident(server.pid), process.descriptors(server.pid)
    for _ in range(1000):
        disconnect(server, generator)
    until(lambda: tasks(server) <= 2, what="the tasks have ended")
    until(lambda: process.descriptors(server.pid) <= descriptors, what="descriptors given back")
    assert process.resident(server.pid) - before < 6 << 20
    assert "Traceback" not in server.log(), server.log()
    assert "never retrieved" not in server.log() and "never awaited" not in server.log()


@pytest.mark.parametrize("fields", [[], [OFFER]], ids=["plain", "deflate"])
def test_five_hundred_idle_websockets_take_little(server, fields):
    with opened(server, "/echo", *fields) as first:
        first.shut()
    before = process.resident(server.pid)
    sockets = [opened(server, "/echo", *fields, timeout=30) for _ in range(500)]
    for socket in sockets:
        socket.send(frame(TEXT, b"hello"))
        assert socket.read().opcode == TEXT
    each = (process.resident(server.pid) - before) / 500
    assert each < 24 << 10
    for socket in sockets:
        socket.client.close()


def test_a_library_as_client_talks_with_many_at_once(server):
    address = server.url.replace("http", "ws") + "/echo"
    with ExitStack() as stack:
        sockets = [stack.enter_context(connect(address)) for _ in range(50)]
        for turn in range(3):
            for number, socket in enumerate(sockets):
                socket.send(f"{turn} {number}" * 100)
            for number, socket in enumerate(sockets):
                assert socket.recv(5) == f"{turn} {number}" * 100
    assert {socket.protocol.close_code for socket in sockets} == {1000}
