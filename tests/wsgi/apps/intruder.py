"""Changes its environ as middleware may, and answers with what it found in it."""

import json


def app(environ, start_response):
    """Answers with the environ's texts, then adds, replaces and removes keys."""
    seen = {key: value for key, value in environ.items() if isinstance(value, str)}
    body = environ["wsgi.input"].read().decode()
    environ["HTTP_X_A"] = "replaced"
    environ["intruder"] = "here"
    environ["PATH_INFO"] = "/replaced"
    del environ["SERVER_NAME"]
    payload = json.dumps({"environ": seen, "body": body}).encode()
    start_response("200 OK", [("Content-Type", "application/json")])
    return [payload]
