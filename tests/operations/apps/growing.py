"""Keeps a megabyte more with every request, and answers as `numbered` does."""

import os

kept = []


def app(environ, start_response):
    """`/ID`."""
    kept.append(os.urandom(1 << 20))
    body = f"{os.getpid()} {environ['PATH_INFO'].strip('/')}".encode()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
