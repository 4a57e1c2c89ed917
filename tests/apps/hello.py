"""HELLO: a short text, without Content-Length, from a list of one element."""


def app(environ, start_response):
    """Answers 200 with the same few bytes."""
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [b"Hello, world!\n"]
