"""Remembers every call and how reading its body went; /calls tells."""

calls = []


def app(environ, start_response):
    """Reads the body and remembers path and outcome."""
    path = environ["PATH_INFO"]
    if path == "/calls":
        text = "\n".join(calls)
    else:
        text = f"{path} {outcome(environ['wsgi.input'])}"
        calls.append(text)
    start_response("200 OK", [("Content-Length", str(len(text)))])
    return [text.encode()]


def outcome(body):
    """The length of the body, or the error that reading it raised."""
    try:
        return f"read {len(body.read())} bytes"
    except Exception as error:
        return f"raised {'an OSError' if isinstance(error, OSError) else type(error).__name__}"
