"""web.py on Pronghorn: a form that is echoed, a page that is streamed, a view that fails."""

from __future__ import annotations

import json
from collections.abc import Iterator

import web

# In debug mode web.py shows tracebacks to clients and reloads the module on every request.
web.config.debug = False


class Index:
    """A greeting."""

    def GET(self) -> str:
        """Answer GET."""
        return "Hello from web.py\n"


class Echo:
    """The fields of the form that was sent, as JSON."""

    def POST(self) -> str:
        """Answer POST."""
        web.header("Content-Type", "application/json")
        return json.dumps(web.input())


class Stream:
    """Lines that are made while they are sent."""

    def GET(self, count: str) -> Iterator[str]:
        """Answer GET."""
        web.header("Content-Type", "text/plain; charset=utf-8")
        for number in range(int(count)):
            yield f"line {number}\n"


class Fail:
    """A mistake: the client gets a plain 500, the log the traceback."""

    def GET(self) -> str:
        """Answer GET."""
        raise RuntimeError("raised on purpose")


application = web.application(("/", Index, "/echo", Echo, r"/stream/(\d+)", Stream, "/raise", Fail)).wsgifunc()
