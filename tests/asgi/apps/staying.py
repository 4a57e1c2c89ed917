"""Applications that go on when their client has gone; the path says how."""

import asyncio
import time

from exchange import answer
from lasting import stay
from routing import routed


async def deaf(scope, receive, send, seconds):
    """Never looks at its client."""
    await stay("deaf", seconds)


async def told(scope, receive, send, seconds):
    """Waits for the end of its client, and goes on."""
    while (await receive())["type"] != "http.disconnect":
        print("received")
    await stay("told", seconds)


async def sending(scope, receive, send, seconds):
    """Sends until that fails, and goes on."""
    try:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        print("sending")
        while True:
            await send({"type": "http.response.body", "body": b"x", "more_body": True})
            await asyncio.sleep(0.01)
    except OSError:
        await stay("sending", seconds)


async def pouring(scope, receive, send, seconds):
    """Sends more than its client takes."""
    try:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        for _ in range(1000):
            await send({"type": "http.response.body", "body": bytes(100_000), "more_body": True})
    except OSError:
        await stay("pouring", seconds)


async def outlasting(scope, receive, send, seconds):
    """Has something to do behind its answer."""
    await answer(send, b"answered")
    await stay("outlasting", seconds)


async def late(scope, receive, send, seconds):
    """Answers after a while."""
    await stay("late", seconds)
    await answer(send, b"late")


async def block(scope, receive, send, seconds):
    """Holds up the loop."""
    print("blocking")
    time.sleep(float(seconds))
    await answer(send, b"blocked")


app = routed(deaf, told, sending, pouring, outlasting, late, block)
