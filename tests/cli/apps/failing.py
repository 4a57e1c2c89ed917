"""An application that fails."""


def app(environ, start_response):
    """Raises."""
    raise RuntimeError("as intended")
