"""Endless and slow bodies, and what became of them: /log tells, a line an event."""

import time

events = []
PIECE = b"x" * 65536


def app(environ, start_response):
    """Answers as the path says."""
    return ROUTES[environ["PATH_INFO"]](start_response)


def large(start_response):
    """2 GB in pieces of 64 KB."""
    start_response("200 OK", [("Content-Type", "application/octet-stream")])
    return Counted(32768)


def list_of_one(start_response):
    """16 MB in a list of one."""
    start_response("200 OK", [("Content-Type", "application/octet-stream")])
    return [PIECE * 256]


def write_first(start_response):
    """A piece through write(), and half a second later another."""
    write = start_response("200 OK", [("Content-Type", "text/plain")])
    write(b"a")
    events.append("written")
    time.sleep(0.5)
    events.append("returned")
    return [b"b"]


def log(start_response):
    """The events so far."""
    text = "\n".join(events)
    start_response("200 OK", [("Content-Length", str(len(text)))])
    return [text.encode()]


class Counted:
    """So many pieces; its end is an event that tells how many were taken."""

    def __init__(self, pieces):
        self.left = pieces
        self.taken = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.left == 0:
            raise StopIteration
        self.left -= 1
        self.taken += 1
        return PIECE

    def close(self):
        """The event."""
        events.append(f"closed after {self.taken}")


ROUTES = {"/large": large, "/list": list_of_one, "/write": write_first, "/log": log}
