"""Views that take longer than they may, each in its own way; the path says which, and for how many seconds."""

import os
import sys
import threading
import time

import pronghorn


def app(environ, start_response):
    """Does what the path says and answers 200 with it."""
    kind, _, seconds = environ["PATH_INFO"].strip("/").partition("/")
    print(f"begin {kind}", file=sys.stderr, flush=True)
    chunks = VIEWS[kind](float(seconds or 0))
    start_response("200 OK", [("Content-Type", "text/plain")])
    return chunks or [kind.encode()]


def hello(seconds):
    """Takes no time."""


def loop(seconds):
    """Runs Python code."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        pass


def nap(seconds):
    """Waits in C, without the interpreter's lock."""
    print("napping", file=sys.stderr, flush=True)
    time.sleep(seconds)


def stubborn(seconds):
    """Goes on when it is interrupted, and answers late."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            loop(until - time.monotonic())
        except pronghorn.RequestTimeout:
            print("caught", file=sys.stderr, flush=True)


def stream(seconds):
    """Runs Python code between two pieces of its body."""

    def pieces():
        try:
            yield b"first"
            loop(seconds)
            yield b"last"
        finally:
            print("closed", file=sys.stderr, flush=True)

    return pieces()


def compute(seconds):
    """Keeps the interpreter's lock in C, from the first moment on."""
    # Twice the digits take three times as long.
    factor = int(TRIED * max(1.0, seconds / TAKES) ** (1 / 1.585)) + 1
    print(f"holding {NUMBER**factor % 10}", file=sys.stderr, flush=True)


def processor_time(run):
    began = time.thread_time()
    run()
    return time.thread_time() - began


# What a second takes is found by trying, on a machine that others use too.
NUMBER, TRIED = 7**20_000, 16
TAKES = min(processor_time(lambda: NUMBER**TRIED) for _ in range(3))


def busy(seconds):
    """Runs Python code for about that long, in several calls."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        sum(range(100))


def threads(seconds):
    """Waits for a thread of its own."""
    thread = threading.Thread(target=nap, args=(seconds,))
    thread.start()
    thread.join()


def abort(seconds):
    """Ends the process, as C code does that has lost its way."""
    os.abort()


VIEWS = {view.__name__: view for view in (hello, loop, nap, stubborn, stream, compute, busy, threads, abort)}
