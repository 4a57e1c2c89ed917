"""Holds the interpreter's lock in C, for as many seconds as the path says."""

import ctypes
import sys


def app(environ, start_response):
    """Sleeps with the lock held: no other thread runs Python meanwhile."""
    seconds = int(environ["PATH_INFO"].strip("/") or 0)
    print("holding", file=sys.stderr, flush=True)
    ctypes.PyDLL(None).sleep(seconds)
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"held\n"]
