"""An application with one response per path, right and wrong ones."""


def app(environ, start_response):
    """Answers as the function of ROUTES for the path does."""
    return ROUTES[environ["PATH_INFO"]](environ, start_response)


def after(environ, start_response):
    """The last request on a connection."""
    start_response("200 OK", [("Content-Length", "6")])
    return [b"/after"]


def generator(environ, start_response):
    """Three pieces without a Content-Length."""
    start_response("200 OK", [("Content-Type", "text/plain")])
    yield b"one "
    yield b"two "
    yield b"three"


ROUTES = {"/after": after, "/generator": generator}
