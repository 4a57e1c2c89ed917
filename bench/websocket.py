"""WebSockets: the load generator `ws_load`, which checks every message, and what is measured with it."""

import os
import subprocess
import time

import load
from measuring import Workload, client, loaded
from process import cpu_seconds
from spec import BENCH, BIN, WS_LOAD

WARM_UP_CLIENTS = 32
MESSAGE_BYTES = 16
RECEIVERS = 256
IDLE_CLIENTS = 10_000
SETTLE_SECONDS = 1
CONNECT_SECONDS = 60


def echo_workload(clients, size):
    """Return the `Workload` of so many clients that each send `size` bytes when the last are back."""

    def measure(server, seconds):
        _warm_up(server)
        return _measure(server, "echo", clients, clients, size, seconds)

    return Workload("ws_echo", check_by_load, measure)


def check_by_load(_port):
    """Check nothing: the load generator compares every message."""


def measure_broadcast(server, seconds):
    """One client sends, 256 receive: `requests` and `rate` count what was delivered."""
    return _measure(server, "broadcast", RECEIVERS + 1, RECEIVERS, MESSAGE_BYTES, seconds)


def measure_idle(server, _seconds):
    """10,000 WebSockets that wait: memory each (`bytes_each`), and without what the application itself holds.

    `held` is how many were connected and `kept` how many got a message back at the end; memory is None unless both are
    all of them. `application_bytes` is what the same coroutines take without any server (`apps/idle_application.py`).
    """
    _warm_up(server)
    before = server.memory()
    with client(WS_LOAD, "idle", server.port, IDLE_CLIENTS) as idle:
        held = _connected(idle)
        time.sleep(SETTLE_SECONDS)  # the last application begins to wait
        during = server.memory()
        kept = int(finish(idle, load.GRACE_SECONDS)["kept"])
    each = (during["pss_kib"] - before["pss_kib"]) * 1024 / held if kept == IDLE_CLIENTS else None
    application = _application_bytes()
    return during | {
        "held": held,
        "kept": kept,
        "bytes_each": each,
        "application_bytes": application,
        "server_bytes": None if each is None else each - application,
    }


def parse(text):
    """Return {name: number} of the generator's report."""
    try:
        return {name: float(number) for name, number in (line.split() for line in text.splitlines())}
    except ValueError:
        raise load.LoadError(f"the load generator said {text.strip()[-200:]!r}") from None


def finish(generator, seconds):
    """Let a connected generator begin, wait until it is done, and return its report; raise `LoadError` if it fails."""
    try:
        output, _ = generator.communicate("\n", timeout=seconds)
    except subprocess.TimeoutExpired:
        raise load.LoadError(f"ws_load did not end within {seconds} s") from None
    if generator.returncode:
        raise load.LoadError("a WebSocket failed (see above)")
    return parse(output)


def _measure(server, kind, wanted, clients, size, seconds):
    with client(WS_LOAD, kind, server.port, clients, size, seconds) as generator:
        connected = _connected(generator)
        if connected != wanted:
            raise load.LoadError(f"{connected} of {wanted} WebSockets were accepted")
        return loaded(server, lambda: _load(generator, seconds))


def _load(generator, seconds):
    began, connecting, ended = time.monotonic(), cpu_seconds(generator.pid), _children_seconds()
    report = finish(generator, seconds + load.GRACE_SECONDS)
    if not report["messages"]:
        raise load.LoadError("no message came back")
    return load.Load(
        requests=int(report["messages"]),
        rate=report["rate"],
        p50_ms=report["p50_ms"],
        p99_ms=report["p99_ms"],
        generator_busy=(_children_seconds() - ended - connecting) / (time.monotonic() - began),
    )


def _children_seconds():
    """Return the processor time of all children that ended, the generator among them once it did."""
    times = os.times()
    return times.children_user + times.children_system


def _connected(generator):
    """Return how many WebSockets the generator has."""
    line = generator.stdout.readline()
    if not line.strip().isdigit():
        raise load.LoadError("no WebSocket (see above)")
    return int(line)


def _warm_up(server):
    _measure(server, "echo", WARM_UP_CLIENTS, WARM_UP_CLIENTS, MESSAGE_BYTES, 1)


def _application_bytes():
    """Return what each of 10,000 coroutines of the application takes in a process without a server."""
    program = BENCH / "apps" / "idle_application.py"
    done = subprocess.run([BIN / "python", program, str(IDLE_CLIENTS)], capture_output=True, text=True, check=True)
    return float(done.stdout)
