"""Takes as long to import as the file named in IMPORT_WAITS_FOR does not exist."""

import os
import sys
import time

print("importing", file=sys.stderr, flush=True)
while not os.path.exists(os.environ["IMPORT_WAITS_FOR"]):
    time.sleep(0.01)


def app(environ, start_response):
    """Answers with the path."""
    start_response("200 OK", [("Content-Type", "text/plain")])
    return [environ["PATH_INFO"].encode()]


async def asgi(scope, receive, send):
    """The same, awaited."""
    assert scope["type"] == "http", f"{scope['type']} is not for this application"
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": scope["path"].encode()})
