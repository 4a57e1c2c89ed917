"""The ways to start and to end a response. What an application must tell from within is kept for /remembered."""

import sys

remembered = []


def app(environ, start_response):
    """Answers as the function in ROUTES for the path does."""
    name, _, argument = environ["PATH_INFO"].lstrip("/").partition("/")
    return ROUTES[name](environ, start_response, argument)


def after(environ, start_response, _):
    """The last request on a connection."""
    start_response("200 OK", [("Content-Length", "6")])
    return [b"/after"]


def forget(environ, start_response, _):
    """Empties what is remembered."""
    remembered.clear()
    return tell(start_response, "")


def recall(environ, start_response, _):
    """Tells what is remembered."""
    return tell(start_response, ", ".join(remembered))


def late(environ, start_response, _):
    """A generator whose first line is start_response."""
    start_response("404 Not Found", [("X-A", "1")])
    yield b"late"


def late_after_empty(environ, start_response, _):
    """Empty strings first."""
    yield b""
    yield b""
    start_response("404 Not Found", [("X-A", "1")])
    yield b""
    yield b"late"


def written(environ, start_response, _):
    """write() and then a list."""
    write = start_response("200 OK", [("Content-Type", "text/plain")])
    write(b"a")
    return [b"b"]


def twice(environ, start_response, _):
    """start_response two times; the second must raise."""
    start_response("200 OK", [("Content-Length", "6")])
    try:
        start_response("200 OK", [("Content-Length", "6")])
    except Exception:
        return [b"raised"]
    return [b"passed"]


def replaced(environ, start_response, _):
    """A head given up for another before it is sent."""
    start_response("200 OK", [("X-A", "1"), ("Content-Length", "99")])
    try:
        raise ValueError("first thoughts")
    except ValueError:
        start_response("503 Busy", [("X-B", "2")], sys.exc_info())
    return [b"replaced"]


def reraised(environ, start_response, _):
    """A head given up for another after it was sent."""
    start_response("200 OK", [("Content-Type", "text/plain")])
    yield b"sent" * 100
    try:
        raise ValueError("too late")
    except ValueError:
        try:
            start_response("500 Failed", [], sys.exc_info())
        except ValueError:
            remembered.append("ValueError")
            raise
        remembered.append("nothing")


def closing(environ, start_response, ending):
    """A body that remembers its close."""
    if ending != "never_starts":
        status, length = {"no_content": ("204 Gone", None), "short": ("200 OK", "50"), "long": ("200 OK", "2")}.get(
            ending, ("200 OK", None)
        )
        start_response(status, [("Content-Length", length)] if length else [])
    return Closing(ending)


class Closing:
    """Two pieces, and a close that is counted."""

    def __init__(self, ending):
        self.ending = ending
        self.pieces = iter([b"some", b"thing"])

    def __iter__(self):
        return iter([b"something"]) if self.ending == "list" else self

    def __next__(self):
        if self.ending == "fails_at_once":
            raise RuntimeError("fails at the first piece")
        try:
            return next(self.pieces)
        except StopIteration:
            if self.ending == "fails":
                raise RuntimeError("fails behind the last piece") from None
            raise

    def close(self):
        """Remembers."""
        remembered.append(f"closed {self.ending}")
        if self.ending == "close_raises":
            raise RuntimeError("close fails")


def tell(start_response, text):
    """200 with a text."""
    start_response("200 OK", [("Content-Length", str(len(text)))])
    return [text.encode()]


ROUTES = {
    function.__name__: function
    for function in [after, forget, late, late_after_empty, written, twice, replaced, reraised, closing]
} | {"remembered": recall}
