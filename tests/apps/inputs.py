"""Performs operations on wsgi.input and tells what each gave, as JSON.

The operations are in the query string: names of methods of a binary file with an optional integer argument, as in
`readline;read=2;iterate`. `perform` does the same to any file, so that a test can compare with io.BytesIO.
"""

import json
from urllib.parse import unquote


def app(environ, start_response):
    """Answers 200 with the results, latin-1 text instead of bytes."""
    results = perform(environ["wsgi.input"], unquote(environ["QUERY_STRING"]))
    payload = json.dumps(results).encode()
    start_response("200 OK", [("Content-Length", str(len(payload)))])
    return [payload]


def perform(stream, operations):
    """The list of what the operations gave."""
    return [one(stream, *operation.partition("=")[::2]) for operation in operations.split(";") if operation]


def one(stream, name, argument):
    """What one operation gave."""
    if name == "iterate":
        return [line.decode("latin-1") for line in stream]
    if name == "next":
        return next(iter(stream), b"").decode("latin-1")
    if name == "drain":
        return [line.decode("latin-1") for line in iter(stream.readline, b"")]
    arguments = {"": (), "None": (None,)}.get(argument) if argument in ("", "None") else (int(argument),)
    result = getattr(stream, name)(*arguments)
    return [line.decode("latin-1") for line in result] if isinstance(result, list) else result.decode("latin-1")
