"""One large body, the same object for every response; /holders tells how many hold it."""

import sys

BODY = bytes(range(256)) * 80_000


def app(environ, start_response):
    """Answers with the body, or with the number of its holders."""
    start_response("200 OK", [("Content-Type", "application/octet-stream")])
    if environ["PATH_INFO"] == "/holders":
        return [str(sys.getrefcount(BODY)).encode()]
    return [BODY]
