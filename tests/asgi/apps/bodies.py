"""Ways to read the body of a request."""

import asyncio

from exchange import answer, answer_json, pieces_of_body, whole_body
from routing import routed


async def echo(scope, receive, send, _):
    """Gives the body back."""
    await answer(send, await whole_body(receive))


async def messages(scope, receive, send, _):
    """Gives the messages themselves, with the sizes of their bodies."""
    received = []
    while not received or received[-1].get("more_body"):
        received.append(await receive())
    shown = [{**message, "body": len(message["body"])} for message in received]
    await answer_json(send, {"messages": shown, "types": sorted({type(one["body"]).__name__ for one in received})})


async def one(scope, receive, send, _):
    """Reads one message, answers, and returns."""
    message = await receive()
    await answer(send, b"%d" % len(message["body"]) if message["body"] else b"empty", headers=[(b"x-a", b"b")])


async def none(scope, receive, send, _):
    """Answers without reading."""
    await answer(send, b"unread")


async def late(scope, receive, send, seconds):
    """Waits before it reads."""
    print("waiting")
    await asyncio.sleep(float(seconds))
    await answer(send, await whole_body(receive))


async def twice(scope, receive, send, _):
    """Reads the body, then waits for what else there is, for a while, then answers."""
    body = await whole_body(receive)
    try:
        message = await asyncio.wait_for(receive(), 0.3)
    except asyncio.TimeoutError:
        message = {"type": "nothing"}
    await answer_json(send, {"size": len(body), "then": message["type"]})


async def beyond(scope, receive, send, _):
    """Reads the body, answers, and receives again and again."""
    body = await whole_body(receive)
    await answer(send, body)
    print("beyond", [(await asyncio.wait_for(receive(), 2))["type"] for _ in range(3)])


async def answer_first(scope, receive, send, size):
    """Sends the start and a piece before it reads; the rest is what it has read."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"first ", "more_body": True})
    body = await whole_body(receive)
    await send({"type": "http.response.body", "body": b"%d" % len(body)})


async def noted(scope, receive, send, _):
    """Notes each piece as it comes."""
    async for piece in pieces_of_body(receive):
        print(f"piece {piece!r}")
    await answer(send, b"done")


async def streamed(scope, receive, send, _):
    """Sends each piece back as it comes."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    async for piece in pieces_of_body(receive):
        await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body"})


async def cut(scope, receive, send, _):
    """Tells what comes in the place of the rest of a body."""
    received = []
    while not received or received[-1].get("more_body"):
        received.append(await receive())
        if received[-1]["type"] == "http.disconnect":
            break
    print("cut", [message["type"] for message in received])


app = routed(echo, messages, one, none, late, twice, beyond, answer_first, noted, streamed, cut)
