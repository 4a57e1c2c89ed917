"""Sleeps /NAME/SECONDS, and says so on the log as it begins."""

import sys
import time


def app(environ, start_response):
    """Answers 200 with what it did."""
    name, seconds = environ["PATH_INFO"].strip("/").split("/")
    print(f"napping /{name}", file=sys.stderr, flush=True)
    time.sleep(float(seconds))
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [f"napped {name}\n".encode()]
