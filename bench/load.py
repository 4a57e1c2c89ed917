"""The load generators, wrk and ab, pinned to their core, and what they report."""

import csv
import os
import re
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from process import LOAD_CORE

UNITS_TO_MS = {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60_000.0}
GRACE_SECONDS = 30


class LoadError(Exception):
    """A load generator that failed, or counted replies that were no success."""


@dataclass(frozen=True)
class Load:
    """What one load gave: completed `requests`, their rate a second, latencies in ms, and how busy the generator was.

    A `generator_busy` near 1 with a server that is not means the generator was the bottleneck: the rate then says
    nothing about the server, but its processor time a request still does.
    """

    requests: int
    rate: float
    p50_ms: float
    p99_ms: float
    generator_busy: float
    bytes_per_reply: int | None = None


def wrk(port, connections, seconds, path="/", script=None):
    """Load 127.0.0.1:`port` with wrk over kept-alive connections for `seconds`."""
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s", "--latency"]
    if script:
        command += ["-s", str(script)]
    text, busy = _run([*command, f"http://127.0.0.1:{port}{path}"], seconds)
    return parse_wrk(text, busy)


def ab(port, clients, seconds):
    """Load 127.0.0.1:`port` with ab, a connection for each request, for `seconds`."""
    with tempfile.TemporaryDirectory() as folder:
        percentiles = Path(folder) / "percentiles.csv"
        limits = ["-t", str(seconds), "-n", str(AB_MOST_REQUESTS)]
        command = ["ab", "-q", "-c", str(clients), *limits, "-e", str(percentiles)]
        text, busy = _run([*command, f"http://127.0.0.1:{port}/"], seconds)
        return parse_ab(text, percentiles.read_text(), busy)


def parse_wrk(text, busy):
    """Return the `Load` of wrk's report; raise `LoadError` when any request failed."""
    failures = re.search(r"Non-2xx or 3xx responses: (\d+)", text)
    if failures:
        raise LoadError(f"{failures[1]} replies were neither 2xx nor 3xx")
    errors = re.search(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)", text)
    if errors and (int(errors[1]) or int(errors[4])):
        raise LoadError(errors[0])
    requests = int(_found(r"(\d+) requests in", text))
    if not requests:
        raise LoadError("no request was answered")
    size = re.search(r"Bytes per reply: (\d+)", text)
    return Load(
        requests=requests,
        rate=float(_found(r"Requests/sec:\s+([\d.]+)", text)),
        p50_ms=_wrk_ms("50", text),
        p99_ms=_wrk_ms("99", text),
        generator_busy=busy,
        bytes_per_reply=int(size[1]) if size else None,
    )


def parse_ab(text, percentiles, busy):
    """Return the `Load` of ab's report and its percentile file; raise `LoadError` when any request failed."""
    failed = int(_found(r"Failed requests:\s+(\d+)", text))
    if failed or "Non-2xx responses" in text:
        raise LoadError(f"{failed} requests failed, or were not answered 2xx")
    latency = {row[0]: float(row[1]) for row in list(csv.reader(percentiles.splitlines()))[1:]}
    requests = int(_found(r"Complete requests:\s+(\d+)", text))
    return Load(requests, float(_found(r"Requests per second:\s+([\d.]+)", text)), latency["50"], latency["99"], busy)


def _run(command, seconds):
    """Run a generator on its core; return its output and the share of the time it was on the processor."""
    began, before = time.monotonic(), os.times()
    try:
        done = subprocess.run(
            ["taskset", "-c", str(LOAD_CORE), *command],
            capture_output=True,
            text=True,
            timeout=seconds + GRACE_SECONDS,
        )
    except subprocess.TimeoutExpired:
        raise LoadError(f"{command[0]} did not end within {seconds + GRACE_SECONDS} s") from None
    elapsed, after = time.monotonic() - began, os.times()
    if done.returncode:
        raise LoadError(f"{command[0]} failed: {done.stderr.strip()[-200:]}")
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return done.stdout, used / elapsed


def _wrk_ms(percentile, text):
    latency = _found(rf"\s{percentile}%\s+([\d.]+(?:us|ms|s|m))\s*\n", text)
    value, unit = re.fullmatch(r"([\d.]+)(\D+)", latency).groups()
    return float(value) * UNITS_TO_MS[unit]


def _found(pattern, text):
    match = re.search(pattern, text)
    if not match:
        raise LoadError(f"no {pattern!r} in the report: {text.strip()[-200:]}")
    return match[1]


AB_MOST_REQUESTS = 1_000_000  # ab reserves memory for each; -t ends it long before
