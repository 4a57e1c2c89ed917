"""Bottle on Pronghorn: a form that is echoed, a page that is streamed, a view that fails."""

from __future__ import annotations

from collections.abc import Iterator

from bottle import Bottle, request, response

application = Bottle()


@application.get("/")
def index() -> str:
    """A greeting."""
    return "Hello from Bottle\n"


@application.post("/echo")
def echo() -> dict[str, str]:
    """The fields of the form that was sent, as JSON."""
    return {name: request.forms.getunicode(name) for name in request.forms}


@application.get("/stream/<count:int>")
def stream(count: int) -> Iterator[str]:
    """Lines that are made while they are sent."""
    response.content_type = "text/plain; charset=utf-8"
    for number in range(count):
        yield f"line {number}\n"


@application.get("/raise")
def fail() -> str:
    """A mistake: the client gets a plain 500, the log the traceback."""
    raise RuntimeError("raised on purpose")
