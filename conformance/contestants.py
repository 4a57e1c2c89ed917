"""The servers of the grid, each started the way the benchmarks start it."""

from __future__ import annotations

import contextlib
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "bench")]

import servers  # noqa: E402
from harness import process  # noqa: E402
from harness.client import Client  # noqa: E402
from harness.server import APPS, Server, pronghorn  # noqa: E402

SERVED = Path(__file__).parent / "served"
READY_WITHIN = 15.0
# The configuration of each peer that does best here: the application on threads where the server has them.
PEERS = {
    "gunicorn": "gunicorn-8", "granian": "granian-8", "waitress": "waitress", "bjoern": "bjoern", "freastal": "freastal",
    "peregrine": "peregrine-8", "weft": "weft-8", "fastpysgi": "fastpysgi",
}  # fmt: skip
# The benchmarks hold idle connections for longer than anybody would; here every server is given the same.
servers.KEEP_ALIVE = 15


@dataclass(frozen=True)
class Contestant:
    """A column of the grid. `spec` is how the benchmarks start it; None for pronghorn."""

    name: str
    spec: servers.ServerSpec | None

    @property
    def present(self) -> bool:
        """Whether it is installed."""
        return self.spec is None or self.spec.program().exists()

    def start(self, app: str) -> Started:
        """Starts it with an application of tests/apps; raises AssertionError when it cannot be."""
        if self.spec is None:
            server = pronghorn(app)
            return Started(server, server.addresses[0])
        port = free_port()
        environment = {**self.spec.environment, "CONFORMANCE_APP": app, "PYTHONPATH": str(APPS)}
        started = Started(Server(self.spec.argv("app", port), SERVED, environment), ("127.0.0.1", port))
        started.wait_ready()
        return started


@dataclass(frozen=True)
class Started:
    """A running server and where it listens."""

    server: Server
    address: tuple[str, int] | str

    @property
    def pid(self) -> int:
        """The process that serves: the youngest of those the command started."""
        return max(process.group_members(self.server.pid), default=self.server.pid)

    def raw(self, timeout: float = 5.0, receive_buffer: int | None = None) -> Client:
        """A new connection."""
        return Client(self.address, timeout, receive_buffer)

    def wait_ready(self) -> None:
        """Waits until it accepts connections; raises AssertionError with its log when it does not."""
        deadline = time.monotonic() + READY_WITHIN
        while not self.accepts():
            if time.monotonic() > deadline or self.server.process.poll() is not None:
                self.server.kill()
                raise AssertionError(f"it does not start:\n{self.server.log()}")
            time.sleep(0.02)

    def accepts(self) -> bool:
        """Whether a connection can be made."""
        with contextlib.suppress(OSError):
            self.raw().close()
            return True
        return False

    def answers(self) -> bool:
        """Whether it still serves."""
        with contextlib.suppress(OSError, AssertionError), self.raw(2.0) as client:
            client.ask(b"GET /after HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n")
            return True
        return False


def contestants() -> list[Contestant]:
    """Pronghorn and its peers, in the order of the columns."""
    specs = {spec.name: spec for spec in servers.all_servers()}
    return [Contestant("pronghorn", None), *(Contestant(name, specs[spec]) for name, spec in PEERS.items())]


def free_port() -> int:
    """A port nobody listens on now. The peers do not tell which port the kernel gave them."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
