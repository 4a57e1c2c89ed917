"""Takes as many seconds as the path says."""

import time


def app(environ, start_response):
    """Sleeps, then answers what it did."""
    seconds = float(environ["PATH_INFO"].strip("/") or 0)
    time.sleep(seconds)
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [f"slept {seconds}\n".encode()]
