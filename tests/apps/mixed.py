"""Fast, sleeping, computing, raising and streaming requests; each answers with the id that is its query."""

import time


def app(environ, start_response):
    """Does what the path says and answers with the id."""
    identity = environ["QUERY_STRING"].encode()
    return ROUTES[environ["PATH_INFO"]](environ, start_response, identity)


def fast(environ, start_response, identity):
    """At once."""
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [identity]


def sleeping(environ, start_response, identity):
    """After 5 ms in which the interpreter is free."""
    time.sleep(0.005)
    return fast(environ, start_response, identity)


def computing(environ, start_response, identity):
    """After some 3 ms of Python."""
    sum(range(100_000))
    return fast(environ, start_response, identity)


def raising(environ, start_response, identity):
    """Never."""
    raise RuntimeError(identity.decode())


def streaming(environ, start_response, identity):
    """Piece by piece, sleeping between."""
    start_response("200 OK", [("Content-Type", "text/plain")])
    for byte in identity:
        time.sleep(0.0005)
        yield bytes([byte])


def uploading(environ, start_response, identity):
    """The body, which must be the id."""
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [environ["wsgi.input"].read()]


ROUTES = {f"/{function.__name__}": function for function in [fast, sleeping, computing, raising, streaming, uploading]}
