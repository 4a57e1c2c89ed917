"""Answers its process id and the last part of the path. Takes START_SECONDS to start."""

import asyncio
import os

from exchange import answer, whole_body


async def app(scope, receive, send):
    """`/ID` at once, `/SECONDS/ID` later; a body is read."""
    if scope["type"] == "lifespan":
        return await lifespan(receive, send)
    *seconds, name = scope["path"].strip("/").split("/")
    await whole_body(receive)
    if seconds:
        print("napping")
        await asyncio.sleep(float(seconds[0]))
    await answer(send, f"{os.getpid()} {name}".encode())


async def lifespan(receive, send):
    """Takes a while to start and to end."""
    await receive()
    await asyncio.sleep(float(os.environ.get("START_SECONDS", "0")))
    await send({"type": "lifespan.startup.complete"})
    await receive()
    print("cleaned up")
    await send({"type": "lifespan.shutdown.complete"})
