"""What matters where a server is kept running: how soon it answers, and what replacing its workers does to a load."""

import socket
import statistics
import sys
import tempfile
import time

from process import Server, free_port
from spec import BENCH, ROOT

sys.path.append(str(ROOT / "tests"))
from harness import fleet  # noqa: E402
from harness.load import Load  # noqa: E402

STARTS = 3  # in a round
START_SECONDS = 20
ROLL_WORKERS = 4
RATE = 500  # requests a second on kept connections, and as many on one each


class Unanswered(OSError):
    """A server that gave no answer, or not in time."""


def measure_start(spec, app, _seconds):
    """Milliseconds from the command to its first answer, the median of a few starts."""
    return {"start_ms": statistics.median(_start(spec, app) for _ in range(STARTS))}


def _start(spec, app):
    port = free_port()
    with tempfile.TemporaryFile() as output:
        began = time.monotonic()
        server = Server(spec.argv(app, port), port, spec.environment, BENCH / "apps", output)
        try:
            _first_answer(port)
            return (time.monotonic() - began) * 1000
        finally:
            server.stop()


def _first_answer(port):
    """Ask again and again until somebody listens; who does then has to answer."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        with socket.socket() as client:
            client.settimeout(START_SECONDS)
            if client.connect_ex(("127.0.0.1", port)):
                time.sleep(0.0005)  # leaves the core to the server's side of the machine
                continue
            client.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
            if client.recv(4096).startswith(b"HTTP/1.1 200"):
                return
            raise Unanswered("its first answer was no 200")
    raise Unanswered(f"nothing listens after {START_SECONDS} s")


def measure_roll(server, seconds):
    """The 99th percentile of the latency before, and while all workers are replaced, again and again.

    The server has every core: on one alone, the import of an application would be measured.
    """
    supervisor = server.spread()
    with Load(("127.0.0.1", server.port), kept=RATE, fresh=RATE) as load:
        time.sleep(1)
        before = time.monotonic()
        time.sleep(seconds)
        began, rolls = time.monotonic(), 0
        while time.monotonic() < began + seconds:
            fleet.reload(supervisor, ROLL_WORKERS)
            rolls += 1
        ended = time.monotonic()
    report = load.stop()
    calm, rolling = report.percentile(0.99, before, began), report.percentile(0.99, began, ended)
    return {
        "p50_ms": report.percentile(0.5, before, began) * 1000,
        "p99_ms": calm * 1000,
        "p50_ms_rolling": report.percentile(0.5, began, ended) * 1000,
        "p99_ms_rolling": rolling * 1000,
        "times_p99": rolling / calm,
        "rolls": rolls,
        "failed": len(report.failures),
    }
