"""Whether a coroutine that blocks the event loop holds up what needs no Python: health, metrics, the head's deadline."""

import os
import socket
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from measuring import WrongAnswer
from process import LOAD_CORE

BLOCKED_SECONDS = 5.0  # as asgi_app.blocking has it
BEGIN_SECONDS = 0.2  # from the request that blocks to the first probe
PROBE_SECONDS = 4.0  # of the 5, so that every probe ends while the loop is blocked
PROBE_EVERY = 0.05
HEAD_SECONDS = 2.0  # the --head-timeout of the servers probed
HEADS = 64
HEAD_EVERY = 0.03  # so that the last one's deadline passes within the probes' time
PATIENCE_SECONDS = 15
WAYS = ("/sleep", "/hold")
PROBES = ("health", "metrics", "head")
# What a probe takes without a blocked loop. A deadline is as late as the clock of a server is coarse: the worst is usual.
USUAL = {"health": statistics.median, "metrics": statistics.median, "head": max}


def measure_blocked(server, _seconds):
    """Milliseconds of each probe without and with a blocked loop (then the worst), and the largest delay.

    Health and metrics are asked on a new connection each time; `head` is how late a connection ends that never sends
    its head. The loop is blocked once in a call that leaves the interpreter and once in one that holds it.
    """
    with _on_load_core():
        calm = _probe(server.port)
        worst = {kind: 0.0 for kind in PROBES}
        for way in WAYS:
            for kind, values in _probe_while_blocked(server.port, way).items():
                worst[kind] = max(worst[kind], *values)
    return summary({kind: USUAL[kind](values) for kind, values in calm.items()}, worst)


def summary(calm, worst):
    """Return the numbers of the table from {probe: ms} without and with a blocked loop."""
    without = {f"{kind}_ms": value for kind, value in calm.items()}
    blocked = {f"{kind}_ms_blocked": value for kind, value in worst.items()}
    return without | blocked | {"delay_ms": max(worst[kind] - calm[kind] for kind in calm)}


@contextmanager
def _on_load_core():
    """Keep this thread, and those it starts, off the core that the blocked loop may have for itself."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {LOAD_CORE})
    try:
        yield
    finally:
        os.sched_setaffinity(0, cores)


def _probe_while_blocked(port, way):
    with ThreadPoolExecutor(1) as pool:
        began = time.monotonic()
        blocking = pool.submit(_get, port, way)
        time.sleep(BEGIN_SECONDS)
        values = _probe(port)
        if blocking.done():
            raise WrongAnswer(f"{way} was answered after {time.monotonic() - began:.1f} s, before the probes ended")
        blocking.result()
    return values


def _probe(port):
    """Return {probe: [ms]} of a few seconds."""
    with ThreadPoolExecutor(2 + HEADS) as pool:
        health = pool.submit(_ask_again, port, "/health")
        metrics = pool.submit(_ask_again, port, "/metrics")
        heads = [pool.submit(_unfinished_head, port, HEAD_EVERY * number) for number in range(HEADS)]
        return {"health": health.result(), "metrics": metrics.result(), "head": [head.result() for head in heads]}


def _ask_again(port, path):
    end, values = time.monotonic() + PROBE_SECONDS, []
    while time.monotonic() < end:
        values.append(_get(port, path))
        time.sleep(PROBE_EVERY)
    return values


def _get(port, path):
    """Return the milliseconds from the connection to the whole answer, which has to be a 200."""
    began = time.monotonic()
    with socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as client:
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n".encode())
        answer = client.recv(65536)
        while more := client.recv(65536):
            answer += more
    if not answer.startswith(b"HTTP/1.1 200"):
        raise WrongAnswer(f"{path} was answered with {answer[:40]!r}")
    return (time.monotonic() - began) * 1000


def _unfinished_head(port, wait):
    """Return how many milliseconds after its deadline a connection ended that sends the beginning of a head only."""
    time.sleep(wait)
    with socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost:")
        began = time.monotonic()
        while client.recv(65536):
            pass  # the answer that tells the client, if there is one
    return (time.monotonic() - began - HEAD_SECONDS) * 1000
