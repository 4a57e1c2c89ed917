"""StatsD: gunicorn's metrics, in datagrams that never hold up a request."""

from __future__ import annotations

import contextlib
import re
import signal
import socket
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.request import get

WSGI_APPS = Path(__file__).parent.parent / "wsgi" / "apps"
LINE = re.compile(r"([\w.]+):([\d.]+)\|(c|ms|g)(?:\|#(.*))?")


class Daemon:
    """A StatsD server: adds up what it is told."""

    def __init__(self, listening: socket.socket):
        listening.settimeout(10)
        self.socket = listening
        self.counts: Counter[str] = Counter()
        self.durations: list[float] = []
        self.tags: set[str | None] = set()
        self.largest = 0

    def read_until(self, name: str, count: int) -> None:
        """Reads datagrams until so much was counted under that name."""
        while self.counts[name] < count:
            datagram = self.socket.recv(65536)
            self.largest = max(self.largest, len(datagram))
            for line in datagram.decode().split("\n"):
                match = LINE.fullmatch(line)
                assert match, datagram
                self._note(*match.groups())

    def _note(self, name: str, value: str, kind: str, tags: str | None) -> None:
        self.tags.add(tags)
        if kind == "ms":
            assert name.endswith("gunicorn.request.duration")
            self.durations.append(float(value))
        else:
            self.counts[name] += int(value)


@contextlib.contextmanager
def udp() -> Iterator[tuple[Daemon, str]]:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.bind(("127.0.0.1", 0))
        yield Daemon(listening), f"127.0.0.1:{listening.getsockname()[1]}"


def test_requests_are_told_by_udp_in_few_datagrams(serve):
    with udp() as (daemon, address):
        server = serve("naps:app", "--statsd-host", address)
        with server.raw() as client:
            client.ask(get(target=b"/long/0.3"))
            for _ in range(200):
                client.ask(get(target=b"/short/0"))
        daemon.read_until("gunicorn.requests", 201)
    assert daemon.counts["gunicorn.request.status.200"] == 201
    assert len(daemon.durations) == 201
    assert 300 <= max(daemon.durations) < 3000
    assert 1000 < daemon.largest <= 1400
    assert daemon.tags == {None}


def test_failures_refusals_and_messages_are_counted_with_prefix_and_tags(serve):
    with udp() as (daemon, address):
        arguments = ["--statsd-host", address, "--statsd-prefix", "shop.web.", "--dogstatsd-tags", "env:test,zone:1"]
        server = serve("failing:app", *arguments, app_dir=WSGI_APPS)
        with server.raw() as client:
            assert client.ask(get(target=b"/raises")).status == 500
        with server.raw() as client:
            assert client.ask(b"GET / HTTP/1.1\r\n\r\n").status == 400
        daemon.read_until("shop.web.gunicorn.requests", 2)
        daemon.read_until("shop.web.gunicorn.log.exception", 1)
    assert daemon.counts["shop.web.gunicorn.request.status.500"] == 1
    assert daemon.counts["shop.web.gunicorn.request.status.400"] == 1
    assert daemon.tags == {"env:test,zone:1"}


def test_a_unix_socket_that_comes_later_gets_what_comes_then(serve, tmp_path):
    path = tmp_path / "statsd"
    server = serve("hello:app", "--statsd-host", f"unix:{path}")
    for _ in range(3):
        assert server.get().status == 200
    server.wait_for_log("StatsD metrics do not arrive: No such file")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(path))
        daemon = Daemon(listening)
        server.get()
        daemon.read_until("gunicorn.requests", 1)
    server.stop()
    assert server.log().count("StatsD metrics do not arrive") == 1


def test_what_waits_is_told_when_the_server_ends(serve):
    with udp() as (daemon, address):
        server = serve("hello:app", "--statsd-host", address)
        server.get()
        server.stop()
        daemon.read_until("gunicorn.requests", 1)


def test_a_server_that_reads_nothing_holds_up_no_request(serve, tmp_path):
    path = tmp_path / "statsd"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(path))
        server = serve("hello:app", "--statsd-host", f"unix:{path}")
        with server.raw() as client:
            for _ in range(100):
                client.send(get() * 20)
                for _ in range(20):
                    assert client.read_response().status == 200
        assert server.stop() == 0


@pytest.mark.parametrize("address", ["localhost", "fd://3", "unix:"])
def test_an_address_that_is_none_is_explained(address):
    command = [sys.executable, "-m", "pronghorn", "hello:app", "--statsd-host", address]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert ended.returncode == 2
    assert "statsd-host" in ended.stderr


def test_the_number_of_workers_is_told_whenever_it_changes(serve):
    with udp() as (daemon, address):
        server = serve("hello:app", "--statsd-host", address, "--workers", "2", supervised=True)
        daemon.read_until("gunicorn.workers", 2)
        server.signal(signal.SIGTTIN)
        daemon.read_until("gunicorn.workers", 5)
