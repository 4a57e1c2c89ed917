"""Flask on Pronghorn: a form that is echoed, a page that is streamed, a view that fails."""

from __future__ import annotations

from collections.abc import Iterator

from flask import Flask, Response, request

application = Flask(__name__)


@application.get("/")
def index() -> str:
    """A greeting."""
    return "Hello from Flask\n"


@application.post("/echo")
def echo() -> dict[str, str]:
    """The fields of the form that was sent, as JSON."""
    return request.form.to_dict()


@application.get("/stream/<int:count>")
def stream(count: int) -> Response:
    """Lines that are made while they are sent."""
    return Response(_lines(count), mimetype="text/plain")


@application.get("/raise")
def fail() -> str:
    """A mistake: the client gets a plain 500, the log the traceback."""
    raise RuntimeError("raised on purpose")


def _lines(count: int) -> Iterator[str]:
    for number in range(count):
        yield f"line {number}\n"
