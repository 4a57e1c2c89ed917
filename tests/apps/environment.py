"""Tells the types and values of what is not text in the environ, as JSON."""

import json


def app(environ, start_response):
    """Answers 200."""
    seen = {key: plain(value) for key, value in environ.items() if key.startswith("wsgi.")}
    seen["environ"] = type(environ).__name__
    seen["headers"] = (
        "list of tuples of str"
        if all(type(value) is str for key, value in environ.items() if key.startswith("HTTP_"))
        else "other"
    )
    seen["path"] = environ["PATH_INFO"]
    payload = json.dumps(seen).encode()
    start_response("200 OK", [("Content-Length", str(len(payload)))])
    return [payload]


def plain(value):
    """The value if JSON has it, else what can be done with it."""
    if isinstance(value, (bool, int, str, tuple)):
        return value
    if hasattr(value, "write") and hasattr(value, "flush") and hasattr(value, "writelines"):
        return "writable"
    return "callable" if callable(value) else type(value).__name__
