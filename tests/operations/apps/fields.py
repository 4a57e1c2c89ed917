"""Answers with a field of its own, after a nap as long as the path says."""

import time


def app(environ, start_response):
    _, _, nap = environ["PATH_INFO"].partition("/nap/")
    time.sleep(float(nap or 0))
    start_response("200 OK", [("Content-Type", "text/plain"), ("X-Made", "by the application")])
    return [b"Hello, World!\n"]
