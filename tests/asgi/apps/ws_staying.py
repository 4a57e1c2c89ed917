"""WebSockets whose applications go on when their client has gone; the path says how."""

import asyncio

from lasting import stay
from routing import routed
from ws_exchange import accepted


async def deaf(scope, receive, send, seconds):
    """Never looks at its client."""
    await accepted(receive, send)
    await stay("WebSocket", seconds)


async def told(scope, receive, send, seconds):
    """Waits for the end of its client, and goes on."""
    await accepted(receive, send)
    while (await receive())["type"] != "websocket.disconnect":
        pass
    await stay("WebSocket", seconds)


async def sending(scope, receive, send, seconds):
    """Sends until that fails, and goes on."""
    await accepted(receive, send)
    try:
        while True:
            await send({"type": "websocket.send", "bytes": bytes(20)})
            await asyncio.sleep(0.01)
    except OSError:
        await stay("WebSocket", seconds)


async def pouring(scope, receive, send, seconds):
    """Sends more than its client takes."""
    await accepted(receive, send)
    try:
        for _ in range(1000):
            await send({"type": "websocket.send", "bytes": bytes(100_000)})
    except OSError:
        await stay("WebSocket", seconds)


async def closing(scope, receive, send, seconds):
    """Closes, and has something left to do."""
    await accepted(receive, send)
    await send({"type": "websocket.close"})
    await receive()
    await stay("WebSocket", seconds)


async def late(scope, receive, send, seconds):
    """Accepts after a while, and goes on."""
    pause, _, seconds = seconds.partition("/")
    await receive()
    print("late")
    await asyncio.sleep(float(pause))
    await send({"type": "websocket.accept"})
    await stay("WebSocket", seconds)


async def silent(scope, receive, send, seconds):
    """Neither accepts nor closes."""
    await receive()
    await stay("WebSocket", seconds)


app = routed(deaf, told, sending, pouring, closing, late, silent, kind="websocket")
