"""A process that gets no more memory refuses what needs it, serves the rest, and is as before when there is some again."""

import contextlib
import resource

from harness.request import get, post
from harness.response import Aborted
from rules.exhaustion import limited

MIB = 1024 * 1024
SPARE = 4 * MIB


def test_a_body_beyond_the_memory_is_refused_or_the_application_is_told(serve):
    server = serve("calls:app", "--body-buffer", "64MiB")
    ask_for_every_thread(server)
    with limited(server.pid, resource.RLIMIT_AS, address_space(server.pid) + SPARE):
        outcomes = [outcome(server, post(b"x" * 32 * MIB)) for _ in range(5)]
        assert outcome(server, post(b"x" * 1000)) == 200
    assert set(outcomes) <= {200, 500, 503}, outcomes
    told = set(server.get("/calls").body.splitlines())
    assert told <= {b"/ read 100000 bytes", b"/ read 1000 bytes", b"/ raised MemoryError"}, told
    assert outcome(server, post(b"x" * 32 * MIB)) == 200
    assert server.get("/calls").body.endswith(b"/ read %d bytes" % (32 * MIB))


def test_many_bodies_at_once_beyond_the_memory_are_refused_or_served(serve):
    server = serve("calls:app")
    ask_for_every_thread(server)
    with limited(server.pid, resource.RLIMIT_AS, address_space(server.pid) + SPARE), contextlib.ExitStack() as scope:
        clients = [scope.enter_context(server.raw()) for _ in range(200)]
        begun = post(b"x" * 900_000)[:-1]
        sent = [client.send_pieces([begun]) and client.send_pieces([b"x"]) for client in clients]
        statuses = [status(client) for client in clients]
    assert set(statuses) <= {200, 500, 503, None}, statuses
    assert len(sent) == 200
    assert outcome(server, post(b"x" * MIB)) == 200


def test_many_connections_beyond_the_memory_are_refused_or_served(serve):
    server = serve("echo:app")
    ask_for_every_thread(server)
    with limited(server.pid, resource.RLIMIT_AS, address_space(server.pid) + MIB // 4), contextlib.ExitStack() as scope:
        clients = [scope.enter_context(server.raw(timeout=10)) for _ in range(3000)]
        for client in clients:
            client.send_pieces([get(b"X: " + b"x" * 4000)[:-1]])
        for client in clients:
            client.send_pieces([b"\n"])
        answered = [status(client) for client in clients]
    assert set(answered) <= {200, 500, 503, None}
    assert outcome(server, get()) == 200


def ask_for_every_thread(server):
    """What is made once, threads and buffers, is there before the memory is limited."""
    for _ in range(20):
        assert outcome(server, post(b"x" * 100_000)) == 200


def outcome(server, request):
    """The status of the answer, None without one."""
    with server.raw(timeout=10) as client:
        client.send_pieces([request])
        return status(client)


def status(client):
    """The status of the answer, None without one."""
    client.extend()
    try:
        return client.read_response().status
    except (Aborted, OSError):
        return None


def address_space(pid):
    """How many bytes of address space the process has."""
    with open(f"/proc/{pid}/statm") as statm:
        return int(statm.read().split()[0]) * resource.getpagesize()
