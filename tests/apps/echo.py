"""ECHO: method, target, environ and body of the request, as JSON."""

import json


def app(environ, start_response):
    """Answers 200; the body is read whole and returned as latin-1 text, the environ with the values that are text."""
    body = b"".join(iter(lambda: environ["wsgi.input"].read(65536), b""))
    seen = {
        "method": environ["REQUEST_METHOD"],
        "path": environ.get("PATH_INFO", ""),
        "query": environ.get("QUERY_STRING", ""),
        "environ": {key: value for key, value in environ.items() if isinstance(value, str)},
        "body": body.decode("latin-1"),
    }
    payload = json.dumps(seen).encode("ascii")
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(payload)))])
    return [payload]
