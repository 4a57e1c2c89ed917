"""The plain ways to read a request and to answer it."""

import json


class Disconnected(Exception):
    """The client went before its request had come whole."""


async def answer(send, body, status=200, headers=()):
    """A response with that body and its length."""
    length = (b"content-length", b"%d" % len(body))
    await send({"type": "http.response.start", "status": status, "headers": [length, *headers]})
    await send({"type": "http.response.body", "body": body})


async def answer_json(send, value):
    """A response that has the value as JSON."""
    await answer(send, json.dumps(value).encode("ascii"), headers=[(b"content-type", b"application/json")])


async def pieces_of_body(receive):
    """The pieces of the request's body as they come."""
    more = True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise Disconnected
        more = message.get("more_body", False)
        yield message.get("body", b"")


async def whole_body(receive):
    """The body of the request."""
    return b"".join([piece async for piece in pieces_of_body(receive)])
