"""What every workload is made of: its kind, a load and what it costs the server, the programs that are clients."""

import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from process import LOAD_CORE
from spec import BENCH


class WrongAnswer(Exception):
    """A server whose answer to a workload is not the application's."""


@dataclass(frozen=True)
class Workload:
    """A workload: the callable of `bench_app` it serves, its check (given a port) and its measurement.

    `measure` takes a running `process.Server` and seconds, and returns a dict of numbers: `requests`, `rate` (a
    second), `p50_ms`, `p99_ms`, `cpu_us` and `core_us` (a request), `server_busy` and `foreign_busy` (the
    share of the server's core that went to it and to others), `generator_busy`, `pss_kib` and `rss_kib`, as far as they
    apply, and those of its own.
    """

    app: str
    check: Callable
    measure: Callable


@dataclass(frozen=True)
class ColdWorkload:
    """A workload that starts its servers itself: `measure` takes a `servers.ServerSpec`, `app` and seconds."""

    app: str
    measure: Callable


def loaded(server, generate):
    """Run one load and return what it gave and what it cost the server."""
    before, began = server.clock(), time.monotonic()
    result = generate()
    after, elapsed = server.clock(), time.monotonic() - began
    tree, core = after.tree - before.tree, after.core - before.core
    costs = {
        "cpu_us": tree / result.requests * 1e6,
        "core_us": core / result.requests * 1e6,
        "server_busy": tree / elapsed,
        "foreign_busy": max(0.0, core - tree) / elapsed,
    }
    return asdict(result) | costs | server.memory()


@contextmanager
def client(program, *arguments):
    """Run one of our client programs (in Python, or built) on the load's core; it is ended with the block."""
    interpreter = [sys.executable] if Path(program).suffix == ".py" else []
    command = ["taskset", "-c", str(LOAD_CORE), *interpreter, BENCH / program, *map(str, arguments)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as client:
        try:
            yield client
        finally:
            client.kill()
