"""Fails as its path says."""


def app(environ, start_response):
    """`/early` before the head, `/named` with the query in the message, `/headed` after start_response, `/late` after a part of the
    body.
    """
    path = environ["PATH_INFO"]
    if path == "/named":
        raise ValueError(environ["QUERY_STRING"])
    if path == "/headed":
        start_response("200 OK", [("X-Secret", "token"), ("Content-Length", "5")])
        raise ValueError("after start_response")
    if path == "/late":
        return parts(start_response)
    raise ValueError("on purpose")


def parts(start_response):
    """A body that breaks off."""
    start_response("200 OK", [])
    yield b"first"
    raise ValueError("too late")
