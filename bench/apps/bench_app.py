"""The WSGI applications of the benchmarks, the same for every server.

One callable for each workload, so that no server pays for routing the others do not need.
Every response sets Content-Length: some servers fall back to chunks without it, which is another workload.
"""

import json
import os
import time

HELLO = b"Hello, World!\n"
SLEEP_SECONDS = 0.05
RECORDS = [
    {"id": number, "name": f"record {number}", "tags": ["a", "b"], "score": number * 1.5} for number in range(148)
]


def hello(environ, start_response):
    """Answer 14 bytes of text: what a server costs when the application costs nothing."""
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", "14")])
    return [HELLO]


def json_records(environ, start_response):
    """Answer about 10 KB of JSON, serialised at each request as an API would."""
    body = json.dumps(RECORDS).encode()
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]


def echo(environ, start_response):
    """Answer the request's body."""
    body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
    start_response("200 OK", [("Content-Type", "application/octet-stream"), ("Content-Length", str(len(body)))])
    return [body]


def numbered(environ, start_response):
    """Answer the process's id and the path's name: who answers, and to what."""
    body = f"{os.getpid()} {environ['PATH_INFO'].strip('/')}".encode()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]


def mixed(environ, start_response):
    """Answer `/sleep` after 50 ms, as a view that waits for a database would, and anything else at once."""
    if environ["PATH_INFO"] == "/sleep":
        time.sleep(SLEEP_SECONDS)
    return hello(environ, start_response)
