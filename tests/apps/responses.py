"""An application with one response per path, right ones and wrong ones."""

PIECES = [b"one ", b"two ", b"three"]


def app(environ, start_response):
    """Answers as the function in ROUTES for the path does; what follows a second slash is its argument."""
    name, _, argument = environ["PATH_INFO"].lstrip("/").partition("/")
    return ROUTES[name](environ, start_response, argument)


def after(environ, start_response, _):
    """The last request on a connection."""
    start_response("200 OK", [("Content-Length", "6")])
    return [b"/after"]


def generator(environ, start_response, _):
    """Three pieces without a Content-Length."""
    start_response("200 OK", [("Content-Type", "text/plain")])
    yield from PIECES


def status(environ, start_response, code):
    """That status, with body bytes and a Content-Length for them."""
    start_response(f"{code} Some Reason", [("Content-Length", "13")])
    return PIECES


def unsized(environ, start_response, code):
    """That status, with body bytes and no Content-Length."""
    start_response(f"{code} Some Reason", [])
    return iter(PIECES)


def length(environ, start_response, announced):
    """Thirteen bytes under another Content-Length."""
    start_response("200 OK", [("Content-Length", announced)])
    return PIECES


def length_in_pieces(environ, start_response, announced):
    """As length, from a generator."""
    start_response("200 OK", [("Content-Length", announced)])
    yield from PIECES


def length_written(environ, start_response, announced):
    """As length, through write()."""
    write = start_response("200 OK", [("Content-Length", announced)])
    for piece in PIECES:
        write(piece)
    return []


def field(environ, start_response, line):
    """One field more, given as name:value."""
    name, _, value = line.partition(":")
    start_response("200 OK", [("Content-Length", "13"), (name, value)])
    return PIECES


def both_framings(environ, start_response, _):
    """Content-Length and Transfer-Encoding."""
    start_response("200 OK", [("Content-Length", "13"), ("Transfer-Encoding", "chunked")])
    return PIECES


def fail_before(environ, start_response, _):
    """Raises before start_response."""
    raise RuntimeError("failed before the head, secret-detail")


def fail_unsent(environ, start_response, _):
    """Raises after start_response, before the first piece."""
    start_response("200 OK", [("Content-Length", "13")])
    raise RuntimeError("failed before the first piece, secret-detail")


def fail_after(environ, start_response, announced):
    """Raises after the first piece."""
    start_response("200 OK", [("Content-Length", announced)] if announced else [])
    yield PIECES[0]
    raise RuntimeError("failed after the first piece, secret-detail")


ROUTES = {
    function.__name__: function
    for function in [after, generator, status, unsized, length, length_in_pieces, length_written, field, both_framings]
    + [fail_before, fail_unsent, fail_after]
}
