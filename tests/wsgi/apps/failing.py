"""Fails in every way an application can."""

import gc

closed = []


def app(environ, start_response):
    """Fails as the function for the path does; /closed tells which bodies were closed, /objects how many objects live."""
    name = environ["PATH_INFO"].lstrip("/")
    if name == "closed":
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [" ".join(closed).encode()]
    if name == "objects":
        gc.collect()
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [str(len(gc.get_objects())).encode()]
    return ROUTES[name](start_response)


def raises(start_response):
    """Raises before anything else."""
    raise ValueError("on purpose")


def raises_at_length(start_response):
    """Raises with more to tell than a pipe holds."""
    raise ValueError("x" * 1_000_000)


def exits(start_response):
    """Asks the process to end."""
    raise SystemExit(3)


def interrupts(start_response):
    """Raises what Ctrl-C raises."""
    raise KeyboardInterrupt


def late(start_response):
    """Raises after the first chunk."""
    start_response("200 OK", [])
    yield b"first"
    raise ValueError("too late")


def never_starts(start_response):
    """Gives a body without a status."""
    return [b"body"]


def close_raises(start_response):
    """A body whose close fails."""
    start_response("200 OK", [])
    return Closing()


def endless(start_response):
    """A body that does not end by itself."""
    start_response("200 OK", [])
    try:
        while True:
            yield b"x" * 65536
    finally:
        closed.append("endless")


class Closing:
    """A body of one chunk."""

    def __iter__(self):
        """The chunk."""
        return iter([b"chunk"])

    def close(self):
        """Fails."""
        raise ValueError("in close")


ROUTES = {
    function.__name__: function
    for function in [raises, raises_at_length, exits, interrupts, late, never_starts, close_raises, endless]
}
