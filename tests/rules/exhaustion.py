"""Checks of what a server does when clients are slow, many or greedy, or the system has nothing left to give.

A deadline is judged by whether the connection ends within the site's timeout.
"""

import contextlib
import itertools
import resource
import time

from harness import process
from harness.request import get, head
from harness.rule import rule
from harness.site import Site

MIB = 1024 * 1024
DRIP = 0.1


@rule(31, "a head that drips in for ever is 408", cut=["whole"], hurried=["--head-timeout", "600ms"])
def dripping_head(site: Site) -> None:
    with site.raw() as client:
        client.drip(itertools.chain([b"GET / HTTP/1.1\r\nX: "], itertools.repeat(b"a")), DRIP)
        assert [response.status for response in client.read_to_end()] == [408]


@rule(31, "a head that stops is 408", cut=["whole"], hurried=["--head-timeout", "600ms"], inputs=[
    b"G", b"GET / HTTP/1.1\r\n", b"GET / HTTP/1.1\r\nHost: test\r\n", b"GET / HTTP/1.1\r\nHost: test\r\n\r",
])  # fmt: skip
def stopped_head(site: Site, part: bytes) -> None:
    with site.raw() as client:
        client.send(part)
        (response,) = client.read_to_end()
    assert response.status == 408 and response.closes


@rule(31, "a second head that stops is 408 too", cut=["whole"], hurried=["--head-timeout", "600ms"])
def stopped_second_head(site: Site) -> None:
    with site.raw() as client:
        client.send(get() + b"GET / HTT")
        assert [response.status for response in client.read_to_end()] == [200, 408]


@rule(
    31,
    "a connection that never says anything is closed",
    cut=["whole"],
    hurried=["--head-timeout", "600ms", "--keep-alive", "600ms"],
)
def silent_connection(site: Site) -> None:
    with site.raw() as client:
        assert client.is_closed()


@rule(31, "an idle kept-alive connection is closed without a word", cut=["whole"], hurried=["--keep-alive", "600ms"])
def idle_connection(site: Site) -> None:
    with site.raw() as client:
        client.send(get())
        assert client.read_response().status == 200
        assert client.is_closed()


@rule(31, "a body that pauses too long is 408", cut=["whole"], hurried=["--body-timeout", "600ms"])
def stopped_body(site: Site) -> None:
    with site.raw() as client:
        client.send(head(b"POST / HTTP/1.1", b"Host: test", b"Content-Length: 10") + b"five.")
        (response,) = client.read_to_end()
    assert response.status == 408 and response.closes


@rule(31, "a body that drips in below the minimum rate is 408", cut=["whole"], hurried=["--body-timeout", "1s"])
def dripping_body(site: Site) -> None:
    with site.raw() as client:
        client.send(head(b"POST / HTTP/1.1", b"Host: test", b"Content-Length: 100000"))
        client.drip(itertools.repeat(b"a"), DRIP)
        assert [response.status for response in client.read_to_end()] == [408]


@rule(
    31,
    "a client that takes nothing of its response is let go",
    app="streams:app",
    cut=["whole"],
    hurried=["--write-timeout", "600ms"],
)
def stopped_reader(site: Site) -> None:
    with site.server.raw(2 * site.timeout, receive_buffer=65536) as client:
        client.send(get(target=b"/large"))
        time.sleep(0.9 * site.timeout)
        taken = 0
        with contextlib.suppress(ConnectionResetError):
            while piece := client.receive():
                taken += len(piece)
                assert taken < 64 * MIB, "the server had waited for the client"


@rule(31, "hundreds of slow clients change nothing for others", cut=["whole"])
def slow_crowd(site: Site) -> None:
    beginnings = itertools.cycle(
        [b"", b"GET / HTTP/1.1\r\nHost: test\r\n", b"POST / HTTP/1.1\r\nHost: test\r\nContent-Length: 9\r\n\r\n1234"]
    )
    with contextlib.ExitStack() as open_until_the_end:
        for _ in range(300):
            client = open_until_the_end.enter_context(site.raw())
            client.send(next(beginnings))
        started = time.monotonic()
        with site.raw() as other:
            assert other.ask(get()).status == 200
        assert time.monotonic() - started < 1


@rule(32, "a body in tiny pieces takes linear time", cut=["whole"], app="calls:app")
def tiny_pieces(site: Site) -> None:
    def seconds(size: int) -> float:
        started = time.monotonic()
        with site.server.raw(60) as client:
            client.send(head(b"POST / HTTP/1.1", b"Host: test", b"Transfer-Encoding: chunked"))
            for _ in range(size // 1000):
                client.send(b"64\r\n" + b"x" * 100 + b"\r\n" + (b"64\r\n" + b"x" * 100 + b"\r\n") * 9)
            client.send(b"0\r\n\r\n")
            assert client.read_response().body == b"/ read %d bytes" % size
        return time.monotonic() - started

    once = seconds(5 * MIB // 1000 * 1000)
    assert seconds(20 * MIB // 1000 * 1000) < 8 * once + 1


@rule(33, "connections beyond the descriptors are served later, without a spin", cut=["whole"], app="hello:app")
def out_of_descriptors(site: Site) -> None:
    with contextlib.ExitStack() as scope:
        scope.enter_context(limited(site.server.pid, resource.RLIMIT_NOFILE, process.descriptors(site.server.pid) + 20))
        clients = [scope.enter_context(site.raw()) for _ in range(60)]
        for client in clients:
            client.send(get())
        before = process.cpu_seconds(site.server.pid)
        time.sleep(0.5)
        assert process.cpu_seconds(site.server.pid) - before < 0.25, "it spins"
        for client in clients:
            client.extend()
            assert client.read_response().status == 200
            client.close()
    with site.raw() as client:
        assert client.ask(get()).status == 200


@rule(33, "connections that end before they are accepted do no harm", cut=["whole"], app="hello:app")
def aborted_connections(site: Site) -> None:
    for _ in range(300):
        client = site.raw()
        client.send_pieces([b"GET /"])
        client.reset()
    with site.raw() as client:
        assert client.ask(get()).status == 200


@contextlib.contextmanager
def limited(pid: int, which: int, most: int):
    """For a while the process may have no more of that resource."""
    limits = resource.prlimit(pid, which)
    resource.prlimit(pid, which, (most, limits[1]))
    try:
        yield
    finally:
        resource.prlimit(pid, which, limits)
