"""WebSockets that are busy, idle or blocked; the path says which. One of them releases those that wait."""

import asyncio
import time

from routing import routed
from telling import tell
from ws_exchange import accepted, echoes, raised

released = asyncio.Event()


async def echo(scope, receive, send, argument):
    """Sends each message back."""
    await accepted(receive, send)
    await echoes(receive, send)


async def hold(scope, receive, send, argument):
    """Receives nothing until it is released; then sends how many messages there were of bytes, and their size."""
    await accepted(receive, send)
    tell("holding", None)
    await released.wait()
    messages, size = 0, 0
    while (message := await receive()).get("bytes") is not None:
        messages, size = messages + 1, size + len(message["bytes"])
    if message["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": f"{messages} {size}"})


async def release(scope, receive, send, argument):
    """Releases those that wait."""
    await accepted(receive, send)
    released.set()


async def block(scope, receive, send, argument):
    """Blocks the event loop for so many seconds at each message."""
    await accepted(receive, send)
    while (await receive())["type"] == "websocket.receive":
        tell("blocking", None)
        time.sleep(float(argument))
        await send({"type": "websocket.send", "text": "awake"})


async def pour(scope, receive, send, argument):
    """Sends messages of so many bytes without end; tells what that raises, how many were sent and after how many seconds."""
    await accepted(receive, send)
    sent, started, data = 0, time.monotonic(), bytes(int(argument))
    while (outcome := await raised(send, {"type": "websocket.send", "bytes": data})) is None:
        sent += 1
    tell("poured", [outcome, sent, time.monotonic() - started])


async def count(scope, receive, send, argument):
    """Sends how many tasks there are at each message."""
    await accepted(receive, send)
    while (await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": str(len(asyncio.all_tasks()))})


app = routed(echo, hold, release, block, pour, count, kind="websocket")
