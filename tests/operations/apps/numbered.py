"""Answers its process id and the last part of the path. Takes IMPORT_SECONDS to import."""

import os
import time

time.sleep(float(os.environ.get("IMPORT_SECONDS", "0")))


def app(environ, start_response):
    """`/ID` at once, `/SECONDS/ID` later."""
    *seconds, name = environ["PATH_INFO"].strip("/").split("/")
    time.sleep(float(seconds[0]) if seconds else 0)
    body = f"{os.getpid()} {name}".encode()
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(body)))])
    return [body]
